"""A manager that hands matches to its referee directly, by START_MATCH or MATCH_ASSIGNMENT, with the players' endpoints,
and acknowledges a report with no more than "ok". Starts when one referee and NAME players are there."""
import threading
import time

import web

WANTED, _ = web.arguments()
WANTED = int(WANTED)
players, referees, results = {}, {}, {}
ready = threading.Event()


def utc():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def welcome(kind, id_field, agent_id, params):
    if len(players) == WANTED and referees:
        ready.set()
    return {"protocol": "league.v2", "message_type": kind, "sender": "league_manager", "timestamp": utc(),
            "conversation_id": params["conversation_id"], "status": "ACCEPTED", id_field: agent_id,
            "auth_token": "secret-" + agent_id, "league_id": "foreign_league"}


def answer(request):
    method, params = request["method"], request.get("params", {})
    if method == "register_player":
        agent_id = "player_%d" % (len(players) + 1)
        players[agent_id] = params["player_meta"]["contact_endpoint"]
        result = welcome("LEAGUE_REGISTER_RESPONSE", "player_id", agent_id, params)
    elif method == "register_referee":
        agent_id = "referee_%d" % (len(referees) + 1)
        referees[agent_id] = params["referee_meta"]["contact_endpoint"]
        result = welcome("REFEREE_REGISTER_RESPONSE", "referee_id", agent_id, params)
    elif method == "report_match_result":
        assert params["auth_token"] == "secret-referee_1", params["auth_token"]
        results[params["match_id"]] = params["result"]
        result = {"status": "ok"}
    else:
        return 200, {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "Method not found"}}
    return 200, {"jsonrpc": "2.0", "id": request["id"], "result": result}


def manage():
    ready.wait()
    (referee,), ids = referees.values(), list(players)
    pairs = [(one, other) for number, one in enumerate(ids) for other in ids[number + 1:]]
    for number, (one, other) in enumerate(pairs, 1):
        match_id = "match-%d" % number
        style = ("start_match", "START_MATCH") if number % 2 else ("assign_match", "MATCH_ASSIGNMENT")
        web.post(referee, {"jsonrpc": "2.0", "id": number, "method": style[0], "params": {
            "protocol": "league.v2", "message_type": style[1], "sender": "league_manager", "timestamp": utc(),
            "conversation_id": "conv-" + match_id, "match_id": match_id, "player1_id": one, "player2_id": other,
            "player1_endpoint": players[one], "player2_endpoint": players[other]}})
        for _ in range(600):
            if match_id in results:
                break
            time.sleep(0.02)
    web.tell(results=results)


server = web.server(answer)
web.tell(listening=web.address(server))
web.run(server, then=manage)
