"""A referee as the protocol's description has it."""
import itertools
import random
import threading
import time

import web

MANAGER, NAME = web.arguments()
ids = itertools.count(1)
me = {}


def stamp(ahead=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


def envelope(kind, conversation):
    return {"protocol": "league.v2", "message_type": kind, "sender": "referee:" + me.get("referee_id", NAME),
            "timestamp": stamp(), "conversation_id": conversation}


def call(url, method, message):
    return web.post(url, {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": message})["result"]


def both(ask, seats):
    """Asks both players at once."""
    answers = [None, None]

    def one(number):
        try:
            answers[number] = ask(*seats[number])
        except Exception as error:
            web.tell(trouble=repr(error))

    threads = [threading.Thread(target=one, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def play(league_id, round_id, match):
    match_id, conversation = match["match_id"], "conv-" + match["match_id"].lower() + "-001"
    a, b = match["player_A_id"], match["player_B_id"]
    seats = [(a, b, match["player_A_endpoint"], "PLAYER_A"), (b, a, match["player_B_endpoint"], "PLAYER_B")]
    common = {"auth_token": "tok_made_up_for_players", "match_id": match_id, "game_type": "even_odd"}

    def invite(player, opponent, url, role):
        return call(url, "handle_game_invitation", {
            **envelope("GAME_INVITATION", conversation), **common, "league_id": league_id, "round_id": round_id,
            "role_in_match": role, "opponent_id": opponent})

    def choose(player, opponent, url, role):
        answer = call(url, "choose_parity", {
            **envelope("CHOOSE_PARITY_CALL", conversation), **common, "player_id": player, "deadline": stamp(30),
            "context": {"opponent_id": opponent, "round_id": round_id}})
        return answer.get("parity_choice")

    joined = both(invite, seats)
    assert all(answer and answer.get("accept") for answer in joined), joined
    choices = dict(zip((a, b), both(choose, seats)))
    number = random.randint(1, 10)
    parity = "odd" if number % 2 else "even"
    right = [player for player in (a, b) if choices[player] == parity]
    winner = right[0] if len(right) == 1 else None
    score = {player: 3 if player == winner else 0 for player in (a, b)} if winner else {a: 1, b: 1}
    reason = "the number was %d" % number
    over = {**envelope("GAME_OVER", conversation), **common, "game_result": {
        "status": "WIN" if winner else "DRAW", "winner_player_id": winner, "drawn_number": number,
        "number_parity": parity, "choices": choices, "reason": reason}}
    both(lambda player, opponent, url, role: call(url, "notify_match_result", over), seats)
    report = {**envelope("MATCH_RESULT_REPORT", conversation), "auth_token": me["auth_token"], "league_id": league_id,
              "round_id": round_id, "match_id": match_id, "game_type": "even_odd",
              "result": {"winner": winner, "score": score,
                         "details": {"drawn_number": number, "choices": choices}}}
    web.tell(reported=match_id, answer=call(MANAGER, "report_match_result", report).get("message_type"))


def answer(request):
    if request["method"] == "notify_round":
        params = request["params"]
        for match in params["matches"]:
            if match["referee_id"] == me["referee_id"]:
                game = (params["league_id"], params["round_id"], match)
                threading.Thread(target=play, args=game, daemon=True).start()
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {"status": "ok"}}


def register():
    meta = {"display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": web.address(server), "max_concurrent_matches": 5}
    me.update(call(MANAGER, "register_referee", {
        **envelope("REFEREE_REGISTER_REQUEST", "conv-referee-" + NAME), "referee_meta": meta}))
    web.tell(registered=me["referee_id"])


server = web.server(answer)
web.run(server, then=register)
