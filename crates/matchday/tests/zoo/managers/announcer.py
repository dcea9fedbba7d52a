"""A manager that announces rounds as the catalogue has them: a match names its referee by endpoint, and its players by id
alone. Understands nothing but methods that are message types, and is asked for endpoints by LEAGUE_QUERY."""
import threading
import time

import web

WANTED, _ = web.arguments()
WANTED = int(WANTED)
players, referees, results = {}, {}, {}
ready = threading.Event()


def message(kind, conversation, **fields):
    return {"protocol": "league.v2", "message_type": kind, "sender": "league_manager",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "conversation_id": conversation, **fields}


def REFEREE_REGISTER_REQUEST(ask):
    referees["REF01"] = ask["referee_meta"]["contact_endpoint"]
    return message("REFEREE_REGISTER_RESPONSE", ask["conversation_id"], status="ACCEPTED", referee_id="REF01",
                   reason=None, auth_token="tok_ref01_a", league_id="announced")


def LEAGUE_REGISTER_REQUEST(ask):
    player_id = "P%02d" % (len(players) + 1)
    players[player_id] = ask["player_meta"]
    return message("LEAGUE_REGISTER_RESPONSE", ask["conversation_id"], status="ACCEPTED", player_id=player_id,
                   reason=None, auth_token="tok_%s_a" % player_id.lower(), league_id="announced")


def LEAGUE_QUERY(ask):
    assert ask["auth_token"] == "tok_ref01_a" and ask["query_type"] == "GET_PLAYERS", ask
    listed = [{"player_id": player_id, "display_name": meta["display_name"],
               "contact_endpoint": meta["contact_endpoint"]} for player_id, meta in players.items()]
    return message("LEAGUE_QUERY_RESPONSE", ask["conversation_id"], query_type="GET_PLAYERS", success=True,
                   data={"players": listed})


def MATCH_RESULT_REPORT(ask):
    assert ask["auth_token"] == "tok_ref01_a", ask["auth_token"]
    results[ask["match_id"]] = ask["result"]
    return message("MATCH_RESULT_ACK", ask["conversation_id"], match_id=ask["match_id"], status="recorded")


METHODS = {made.__name__: made for made in (REFEREE_REGISTER_REQUEST, LEAGUE_REGISTER_REQUEST, LEAGUE_QUERY,
                                            MATCH_RESULT_REPORT)}


def answer(request):
    response = {"jsonrpc": "2.0", "id": request["id"]}
    method = METHODS.get(request["method"])
    if method:
        response["result"] = method(request["params"])
    else:
        response["error"] = {"code": -32601, "message": "Method not found"}
    if len(players) == WANTED and referees:
        ready.set()
    return 200, response


def tell_all(endpoints, body):
    for endpoint in endpoints:
        web.post(endpoint, {"jsonrpc": "2.0", "id": 1, "method": body["message_type"], "params": body})


def manage():
    ready.wait()
    (referee,), ids = referees.values(), list(players)
    everyone = [meta["contact_endpoint"] for meta in players.values()] + [referee]
    rounds = [[(one, other)] for number, one in enumerate(ids) for other in ids[number + 1:]]
    for round_id, pairs in enumerate(rounds, 1):
        matches = [{"match_id": "R%dM%d" % (round_id, number), "game_type": "even_odd", "player_A_id": one,
                    "player_B_id": other, "referee_endpoint": referee}
                   for number, (one, other) in enumerate(pairs, 1)]
        tell_all(everyone, message("ROUND_ANNOUNCEMENT", "conv-round-%d" % round_id, league_id="announced",
                                   round_id=round_id, matches=matches))
        for _ in range(600):
            if all(match["match_id"] in results for match in matches):
                break
            time.sleep(0.02)
        tell_all(everyone, message("ROUND_COMPLETED", "conv-round-%d" % round_id, league_id="announced",
                                   round_id=round_id, matches_completed=len(matches), next_round_id=None,
                                   summary={"total_matches": len(matches), "wins": 0, "draws": 0,
                                            "technical_losses": 0}))
    web.tell(results=results)


server = web.server(answer)
web.tell(listening=web.address(server))
web.run(server, then=manage)
