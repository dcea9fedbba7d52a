"""Knows START_MATCH only, and reports a result at once without having asked anyone."""
import random
import threading
import uuid

import web
from student import now

MANAGER, NAME = web.arguments()
me = {}


def message(kind, conversation, **fields):
    return {"protocol": "league.v2", "message_type": kind, "sender": "referee:" + me.get("id", NAME), "timestamp": now(),
            "conversation_id": conversation, **fields}


def call(method, body):
    return web.post(MANAGER, {"jsonrpc": "2.0", "id": 1, "method": method, "params": body})["result"]


def report(start):
    a, b = start["player_A_id"], start["player_B_id"]
    number = random.randint(1, 10)
    winner = a if number % 2 == 0 else b
    call("report_match_result", message(
        "MATCH_RESULT_REPORT", start["conversation_id"], auth_token=me["token"], league_id=start["league_id"],
        round_id=start["round_id"], match_id=start["match_id"], game_type="even_odd",
        result={"winner": winner, "score": {a: 3 * (winner == a), b: 3 * (winner == b)},
                "details": {"drawn_number": number, "choices": {a: "even", b: "odd"}}}))


def answer(request):
    if request.get("method") != "start_match":
        return 200, {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": -32601, "message": "Method not found"}}
    threading.Thread(target=report, args=(request["params"],), daemon=True).start()
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {"status": "ok"}}


def register():
    accepted = call("register_referee", message("REFEREE_REGISTER_REQUEST", "conv-" + uuid.uuid4().hex, referee_meta={
        "display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": web.address(server),
        "max_concurrent_matches": 1}))
    me["id"], me["token"] = accepted["referee_id"], accepted["auth_token"]


server = web.server(answer)
web.run(server, then=register)
