"""No JSON-RPC at all: a message is posted, a message comes back. Whatever has no message_type is a 422."""
import random
import time

import web

MANAGER, NAME = web.arguments()
player_id = auth_token = None


def reply_to(message, message_type, **fields):
    return dict(protocol="league.v2", message_type=message_type, sender="player:" + player_id,
                timestamp=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                conversation_id=message["conversation_id"], auth_token=auth_token, match_id=message["match_id"],
                player_id=player_id, **fields)


def answer(message):
    if "message_type" not in message:
        if message.get("method") != "ping":
            web.tell(unknown=message.get("method"))
        return 422, {"detail": [{"loc": ["body", "message_type"], "msg": "field required"}]}
    kind = message["message_type"]
    if kind == "GAME_INVITATION":
        arrival = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return 200, reply_to(message, "GAME_JOIN_ACK", arrival_timestamp=arrival, accept=True)
    if kind == "CHOOSE_PARITY_CALL":
        return 200, reply_to(message, "CHOOSE_PARITY_RESPONSE", parity_choice=random.choice(("even", "odd")))
    return 200, {"status": "received"}


def register():
    global player_id, auth_token
    response = web.post(MANAGER, {
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:" + NAME,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "conversation_id": "conv-bare-" + NAME,
        "player_meta": {"display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
                        "contact_endpoint": web.address(server)},
    })
    player_id, auth_token = response["player_id"], response["auth_token"]
    web.tell(registered=player_id)


server = web.server(answer)
web.run(server, then=register)
