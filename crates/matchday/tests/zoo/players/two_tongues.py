"""Registers as in the description, and then understands nothing but `handle_message`: tells of each call it did not."""
import time

import web

MANAGER, NAME = web.arguments()
ME = {}


def stamp():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def answer(request):
    method, response = request["method"], {"jsonrpc": "2.0", "id": request.get("id")}
    if method != "handle_message":
        if method != "ping":
            web.tell(unknown=method)
        response["error"] = {"code": -32601, "message": "Method not found"}
        return 200, response
    call = request["params"]["message"]
    web.tell(understood=call["message_type"])
    result = {"protocol": "league.v2", "sender": "player:" + ME["player_id"], "timestamp": stamp(),
              "conversation_id": call["conversation_id"], "auth_token": ME["auth_token"],
              "match_id": call.get("match_id"), "player_id": ME["player_id"]}
    if call["message_type"] == "GAME_INVITATION":
        result.update(message_type="GAME_JOIN_ACK", arrival_timestamp=stamp(), accept=True)
    elif call["message_type"] == "CHOOSE_PARITY_CALL":
        result.update(message_type="CHOOSE_PARITY_RESPONSE", parity_choice="odd")
    else:
        result = {"status": "ok"}
    response["result"] = result
    return 200, response


def register():
    meta = {"display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": web.address(server)}
    params = {"protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:" + NAME,
              "timestamp": stamp(), "conversation_id": "conv-two-" + NAME, "player_meta": meta}
    ME.update(web.post(MANAGER, {"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": params})["result"])
    web.tell(registered=ME["player_id"])


server = web.server(answer)
web.run(server, then=register)
