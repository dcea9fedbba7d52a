"""Says RECEIVED at once, or as `acknowledges` a message of the type ACK, and posts its answer to the caller as a message
of its own, a moment later."""
import random
import threading
import time

import web

MANAGER, NAME = web.arguments()
player = {}
referees = {}


def stamp():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def say(url, method, params):
    return web.post(url, {"jsonrpc": "2.0", "id": random.randint(1, 10**6), "method": method, "params": params})


def respond(call, method, message_type, **fields):
    message = {"protocol": "league.v2", "message_type": message_type, "sender": "player:" + player["player_id"],
               "timestamp": stamp(), "conversation_id": call["conversation_id"], "auth_token": player["auth_token"],
               "match_id": call["match_id"], "player_id": player["player_id"], **fields}
    while call["match_id"] not in referees:  # the round is being announced at this very moment
        time.sleep(0.02)
    answer = say(referees[call["match_id"]], method, message)
    if "error" in answer:
        web.tell(refused=answer["error"]["data"]["error_code"], why=answer["error"]["data"]["error_message"])


def answer(request):
    method, params = request["method"], request.get("params", {})
    later = None
    if method == "notify_round":
        for match in params["matches"]:
            referees[match["match_id"]] = match["referee_endpoint"]
    elif method == "handle_game_invitation":
        later = dict(method="game_join_ack", message_type="GAME_JOIN_ACK", arrival_timestamp=stamp(), accept=True)
    elif method == "choose_parity":
        later = dict(method="choose_parity_response", message_type="CHOOSE_PARITY_RESPONSE",
                     parity_choice=random.choice(["even", "odd"]))
    if later:
        threading.Thread(target=respond, args=(params,), kwargs=later, daemon=True).start()
    return 200, {"message_type": "ACK"} if NAME == "acknowledges" else {"status": "RECEIVED"}


def register():
    result = say(MANAGER, "register_player", {
        "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:" + NAME,
        "timestamp": stamp(), "conversation_id": "conv-apart-" + NAME,
        "player_meta": {"display_name": NAME, "version": "1.0.0", "game_types": ["even_odd"],
                        "contact_endpoint": web.address(server)},
    })["result"]
    player.update(result)
    web.tell(registered=player["player_id"])


server = web.server(answer)
web.run(server, then=register)
