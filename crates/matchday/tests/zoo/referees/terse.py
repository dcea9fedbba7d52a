"""The method is the message type; a report says who won, or DRAW, and nothing of how."""
import random
import threading
import time

import web

MANAGER, NAME = web.arguments()
ME = {}


def send(url, message_type, conversation, **fields):
    params = {"protocol": "league.v2", "message_type": message_type, "sender": "referee:" + ME.get("id", NAME),
              "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "conversation_id": conversation}
    params.update(fields)
    return web.post(url, {"jsonrpc": "2.0", "id": 1, "method": message_type, "params": params})["result"]


def play(announcement, match):
    match_id = match["match_id"]
    conversation = match.get("conversation_id", "conv-" + match_id)
    players = [(match["player_A_id"], match["player_A_endpoint"]), (match["player_B_id"], match["player_B_endpoint"])]
    for number, (player, url) in enumerate(players):
        send(url, "GAME_INVITATION", conversation, league_id=announcement["league_id"],
             round_id=announcement["round_id"], match_id=match_id, game_type="even_odd",
             role_in_match=["PLAYER_A", "PLAYER_B"][number], opponent_id=players[1 - number][0])
    choices = {}
    for player, url in players:
        deadline = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30))
        asked = send(url, "CHOOSE_PARITY_CALL", conversation, match_id=match_id, player_id=player,
                     game_type="even_odd", deadline=deadline)
        choices[player] = asked["parity_choice"]
    drawn = random.randint(1, 10)
    right = [player for player, choice in choices.items() if choice == ("odd" if drawn % 2 else "even")]
    winner = right[0] if len(right) == 1 else "DRAW"
    score = {player: 1 if winner == "DRAW" else 3 * (player == winner) for player in choices}
    for _, url in players:
        send(url, "GAME_OVER", conversation, match_id=match_id, game_type="even_odd", game_result={
            "status": "DRAW" if winner == "DRAW" else "WIN", "winner_player_id": winner, "drawn_number": drawn,
            "number_parity": "odd" if drawn % 2 else "even", "choices": choices})
    receipt = send(MANAGER, "MATCH_RESULT_REPORT", conversation, auth_token=ME["token"],
                   league_id=announcement["league_id"], round_id=announcement["round_id"], match_id=match_id,
                   game_type="even_odd", result={"winner": winner, "score": score})
    web.tell(reported=match_id, answer=receipt.get("error_code") or receipt["message_type"])


def answer(request):
    params = request.get("params", {})
    if request["method"] == "ROUND_ANNOUNCEMENT":
        for match in params["matches"]:
            threading.Thread(target=play, args=(params, match), daemon=True).start()
    elif request["method"] not in ("ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_ERROR", "ping"):
        web.tell(unknown=request["method"])
        return 200, {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "Method not found"}}
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": "ok"}


def register():
    result = send(MANAGER, "REFEREE_REGISTER_REQUEST", "conv-" + NAME, referee_meta={
        "display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": web.address(server), "max_concurrent_matches": 2})
    ME.update(id=result["referee_id"], token=result["auth_token"])
    web.tell(registered=ME["id"])


server = web.server(answer)
web.run(server, then=register)
