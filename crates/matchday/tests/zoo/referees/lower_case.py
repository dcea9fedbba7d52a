"""Writes roles in lower case, asks for a parity by `parity_choose`, and leaves out whatever it can do without: tokens,
context, the time, the conversation, and the type of the message where the method says it."""
import random
import threading
import time

import web

MANAGER, NAME = web.arguments()
ME = {}


def utc(ahead=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


def rpc(url, method, **params):
    return web.post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]


def play(announcement, match):
    league_id, match_id = announcement["league_id"], match["match_id"]
    a, b = match["player_A_id"], match["player_B_id"]
    where = {a: match["player_A_endpoint"], b: match["player_B_endpoint"]}
    sender = "referee:" + ME["id"]
    for player, role, opponent in ((a, "player_a", b), (b, "player_b", a)):
        joined = rpc(where[player], "handle_game_invitation", message_type="GAME_INVITATION", sender=sender,
                     league_id=league_id, match_id=match_id, game_type="even_odd", role_in_match=role,
                     opponent_id=opponent)
        assert joined.get("accept") is True, joined
    choices = {}
    for player in (a, b):
        reply = rpc(where[player], "parity_choose", sender=sender, match_id=match_id, player_id=player,
                    game_type="even_odd", deadline=utc(30))
        choices[player] = reply.get("parity_choice") or web.tell(trouble=reply)
    number = random.randint(1, 10)
    parity = ("even", "odd")[number % 2]
    right = [player for player in (a, b) if choices[player] == parity]
    winner = right[0] if len(right) == 1 else None
    for player in (a, b):
        rpc(where[player], "notify_match_result", message_type="GAME_OVER", sender=sender, match_id=match_id,
            game_type="even_odd", game_result={
                "status": "WIN" if winner else "DRAW", "winner_player_id": winner, "drawn_number": number,
                "number_parity": parity, "choices": choices})
    score = {player: 1 if winner is None else 3 * (player == winner) for player in (a, b)}
    receipt = rpc(MANAGER, "report_match_result", message_type="MATCH_RESULT_REPORT", sender=sender,
                  auth_token=ME["token"], league_id=league_id, match_id=match_id, game_type="even_odd",
                  result={"winner": winner, "score": score,
                          "details": {"drawn_number": number, "choices": choices}})
    web.tell(reported=match_id, answer=receipt.get("error_code") or receipt["message_type"])


def guarded(*match):
    try:
        play(*match)
    except Exception as error:
        web.tell(trouble=repr(error))


def answer(request):
    if request["method"] == "notify_round":
        for match in request["params"]["matches"]:
            threading.Thread(target=guarded, args=(request["params"], match), daemon=True).start()
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {}}


def register():
    result = rpc(MANAGER, "register_referee", message_type="REFEREE_REGISTER_REQUEST", referee_meta={
        "display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": web.address(server), "max_concurrent_matches": 4})
    ME.update(id=result["referee_id"], token=result["auth_token"])
    web.tell(registered=ME["id"])


server = web.server(answer)
web.run(server, then=register)
