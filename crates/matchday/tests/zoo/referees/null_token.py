"""Decides its matches by itself and reports them with "auth_token": null: it has lost the token, or never had it."""
import threading
import time

import web

MANAGER, NAME = web.arguments()
ME = {}


def send(method, message_type, conversation, **fields):
    params = {"protocol": "league.v2", "message_type": message_type, "sender": "referee:" + ME.get("id", NAME),
              "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "conversation_id": conversation}
    params.update(fields)
    return web.post(MANAGER, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})["result"]


def report(announcement, match):
    a, b = match["player_A_id"], match["player_B_id"]
    receipt = send("report_match_result", "MATCH_RESULT_REPORT", match["conversation_id"], auth_token=None,
                   league_id=announcement["league_id"], round_id=announcement["round_id"],
                   match_id=match["match_id"], game_type="even_odd",
                   result={"winner": a, "score": {a: 3, b: 0},
                           "details": {"drawn_number": 2, "choices": {a: "even", b: "odd"}}})
    web.tell(reported=match["match_id"], answer=receipt.get("error_code") or receipt["message_type"])


def answer(request):
    if request["method"] == "notify_round":
        for match in request["params"]["matches"]:
            threading.Thread(target=report, args=(request["params"], match), daemon=True).start()
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {"status": "ok"}}


def register():
    result = send("register_referee", "REFEREE_REGISTER_REQUEST", "conv-" + NAME, referee_meta={
        "display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": web.address(server), "max_concurrent_matches": 10,
        "timeouts": {"join_ms": 300, "choice_ms": 300, "retries": 1, "retry_delay_ms": 50}})
    ME.update(id=result["referee_id"])
    web.tell(registered=ME["id"])


server = web.server(answer)
web.run(server, then=register)
