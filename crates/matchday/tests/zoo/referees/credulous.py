"""Believes every sender of a choice, shows players its own token, lets the wrong one win, and reports everything twice,
whatever the manager says."""
import random
import threading
import time

import web

MANAGER, NAME = web.arguments()
ME, TOLD, OPEN = {}, {}, set()


def stamp(ahead=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


def send(url, method, kind, conversation, **fields):
    params = {"protocol": "league.v2", "message_type": kind, "sender": "referee:" + ME.get("id", NAME),
              "timestamp": stamp(), "conversation_id": conversation, **fields}
    return web.post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]


def both(ask, seats):
    answers = {}
    threads = [threading.Thread(target=lambda seat=seat: answers.update({seat[0]: ask(*seat)})) for seat in seats]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def play(league_id, round_id, match):
    match_id, talk = match["match_id"], match["conversation_id"]
    OPEN.add(match_id)
    a, b = match["player_A_id"], match["player_B_id"]
    seats = [(a, b, match["player_A_endpoint"], "PLAYER_A"), (b, a, match["player_B_endpoint"], "PLAYER_B")]
    common = {"auth_token": ME["token"], "match_id": match_id, "game_type": "even_odd"}
    both(lambda me, you, url, role: send(
        url, "handle_game_invitation", "GAME_INVITATION", talk, league_id=league_id, round_id=round_id,
        role_in_match=role, opponent_id=you, **common), seats)
    asked = both(lambda me, you, url, role: send(
        url, "choose_parity", "CHOOSE_PARITY_CALL", talk, player_id=me, deadline=stamp(30), **common), seats)
    choices = {me: TOLD.get((match_id, me)) or asked[me].get("parity_choice") for me in (a, b)}
    number = random.randint(1, 10)
    parity = "odd" if number % 2 else "even"
    wrong = [me for me in (a, b) if choices[me] != parity]
    winner = wrong[0] if len(wrong) == 1 else None
    score = {me: 3 * (me == winner) if winner else 1 for me in (a, b)}
    both(lambda me, you, url, role: send(url, "notify_match_result", "GAME_OVER", talk, game_result={
        "status": "WIN" if winner else "DRAW", "winner_player_id": winner, "drawn_number": number,
        "number_parity": parity, "choices": choices, "reason": "so it is"}, **common), seats)
    OPEN.discard(match_id)
    for _ in range(2):
        send(MANAGER, "report_match_result", "MATCH_RESULT_REPORT", talk, league_id=league_id, round_id=round_id,
             result={"winner": winner, "score": score, "details": {"drawn_number": number, "choices": choices}},
             **common)


def answer(request):
    params = request["params"]
    if request["method"] == "notify_round":
        for match in params["matches"]:
            threading.Thread(target=play, args=(params["league_id"], params["round_id"], match), daemon=True).start()
    elif request["method"] == "choose_parity_response":
        assert params["match_id"] in OPEN, "nobody has asked"
        TOLD[params["match_id"], params["player_id"]] = params["parity_choice"]
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {"status": "ok"}}


def register():
    result = send(MANAGER, "register_referee", "REFEREE_REGISTER_REQUEST", "conv-" + NAME, referee_meta={
        "display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": web.address(server), "max_concurrent_matches": 10})
    ME.update(id=result["referee_id"], token=result["auth_token"])
    web.tell(registered=ME["id"])


server = web.server(answer)
web.run(server, then=register)
