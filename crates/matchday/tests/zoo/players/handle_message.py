"""One method for everything, `handle_message`, with the message one level down in `params.message`."""
import time

import web

MANAGER, NAME = web.arguments()
STATE = {"player_id": None, "auth_token": None}


def utc():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def handle(message):
    kind = message["message_type"]
    answer = {
        "protocol": "league.v2",
        "sender": "player:%s" % STATE["player_id"],
        "timestamp": utc(),
        "conversation_id": message["conversation_id"],
        "auth_token": STATE["auth_token"],
        "player_id": STATE["player_id"],
    }
    if kind == "GAME_INVITATION":
        answer.update(message_type="GAME_JOIN_ACK", match_id=message["match_id"], arrival_timestamp=utc(), accept=True)
    elif kind == "CHOOSE_PARITY_CALL":
        answer.update(message_type="CHOOSE_PARITY_RESPONSE", match_id=message["match_id"], parity_choice="even")
    else:
        return {"status": "ok"}
    return answer


def answer(request):
    if request["method"] != "handle_message":
        if request["method"] != "ping":
            web.tell(unknown=request["method"])
        return 200, {"jsonrpc": "2.0", "id": request["id"],
                     "error": {"code": -32000, "message": "Unknown method: " + request["method"]}}
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": handle(request["params"]["message"])}


def register():
    message = {
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": "player:" + NAME,
        "timestamp": utc(),
        "conversation_id": "conv-reg-" + NAME,
        "player_meta": {"display_name": NAME, "version": "1.2.3", "game_types": ["even_odd"],
                        "contact_endpoint": web.address(server)},
    }
    body = {"jsonrpc": "2.0", "method": "handle_message", "params": {"message": message}, "id": 7}
    result = web.post(MANAGER, body)["result"]
    STATE.update(player_id=result["player_id"], auth_token=result["auth_token"])
    web.tell(registered=STATE["player_id"])


server = web.server(answer)
web.run(server, then=register)
