"""The method is the message type, in calls and in the registration; anything else is no method."""
import random
import time

import web

MANAGER, NAME = web.arguments()
me = {}


def stamp():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def message(message_type, conversation_id, **fields):
    head = {"protocol": "league.v2", "message_type": message_type, "sender": "player:" + me.get("id", NAME),
            "timestamp": stamp(), "conversation_id": conversation_id}
    return {**head, **fields}


def GAME_INVITATION(call):
    return message("GAME_JOIN_ACK", call["conversation_id"], auth_token=me["token"], match_id=call["match_id"],
                   player_id=me["id"], arrival_timestamp=stamp(), accept=True)


def CHOOSE_PARITY_CALL(call):
    return message("CHOOSE_PARITY_RESPONSE", call["conversation_id"], auth_token=me["token"],
                   match_id=call["match_id"], player_id=me["id"], parity_choice=random.choice(["even", "odd"]))


def noted(call):
    return {"status": "ok"}


METHODS = {"GAME_INVITATION": GAME_INVITATION, "CHOOSE_PARITY_CALL": CHOOSE_PARITY_CALL}
for name in ("ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_STANDINGS_UPDATE", "GAME_OVER",
             "GAME_ERROR"):
    METHODS[name] = noted


def answer(request):
    response = {"jsonrpc": "2.0", "id": request["id"]}
    method = METHODS.get(request["method"])
    if method is None:
        if request["method"] != "ping":
            web.tell(unknown=request["method"])
        response["error"] = {"code": -32601, "message": "Method not found"}
    else:
        response["result"] = method(request["params"])
    return 200, response


def register():
    meta = {"display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
            "contact_endpoint": web.address(server)}
    request = {"jsonrpc": "2.0", "id": 1, "method": "LEAGUE_REGISTER_REQUEST",
               "params": message("LEAGUE_REGISTER_REQUEST", "conv-" + NAME, player_meta=meta)}
    result = web.post(MANAGER, request)["result"]
    me.update(id=result["player_id"], token=result["auth_token"])
    web.tell(registered=me["id"])


server = web.server(answer)
web.run(server, then=register)
