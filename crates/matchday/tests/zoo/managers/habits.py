"""A manager that plays a league to its end as the message catalogue describes it, with one habit of wrapping, starting or
assigning that managers in the wild have, and with one planted fault, or "none". The arguments are the habit and the fault."""
import itertools
import secrets
import threading
import time

import web

HABIT, FAULT = web.arguments()
PLAYERS_AT_START = 4  # of the habits that know no START_LEAGUE
STARTS_BY_ITSELF = HABIT in ("types_as_methods", "wrapped")
players, referees, tokens, results, matches = {}, {}, {}, {}, {}
lock, begun, reported = threading.RLock(), threading.Event(), threading.Condition()


class Refused(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def message(kind, conversation, **fields):
    return {"protocol": "league.v2", "message_type": kind, "sender": "league_manager",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "conversation_id": conversation, **fields}


def required(ask, *paths):
    for path in paths:
        value = ask
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is None:
            raise Refused("E003")


def envelope(ask):
    required(ask, "protocol", "message_type", "sender", "timestamp", "conversation_id")
    if ask["protocol"] != "league.v2":
        raise Refused("E018")
    stamp = str(ask["timestamp"])
    if not (stamp.endswith("Z") or stamp.endswith("+00:00")):
        raise Refused("E021")


def welcome(ask, kind, id_field, agent_id):
    token = "tok_one_for_all" if FAULT == "one_token_for_all" else "tok_%s_%s" % (agent_id.lower(), secrets.token_hex(16))
    tokens[agent_id] = token
    return message(kind, ask["conversation_id"], status="ACCEPTED", reason=None, auth_token=token, **{id_field: agent_id})


def rejected(ask, kind, id_field, reason):
    return message(kind, ask["conversation_id"], status="REJECTED", reason=reason, **{id_field: None})


def LEAGUE_REGISTER_REQUEST(ask):
    required(ask, *("player_meta." + name for name in ("display_name", "version", "game_types", "contact_endpoint")))
    meta, kind = ask["player_meta"], ("LEAGUE_REGISTER_RESPONSE", "player_id")
    for name in ("display_name", "version", "contact_endpoint"):
        if not isinstance(meta[name], str) or not meta[name]:
            raise Refused("E002")
    if meta["version"].count(".") != 2 or not meta["contact_endpoint"].startswith("http"):
        raise Refused("E002")
    if not ask["sender"].startswith("player:"):
        raise Refused("E002")
    if not isinstance(meta["game_types"], list) or "even_odd" not in meta["game_types"]:
        return rejected(ask, *kind, "Unsupported game type")
    if meta.get("protocol_version", "2.0.0") != "2.0.0":
        return rejected(ask, *kind, "Protocol version mismatch")
    if begun.is_set() and FAULT != "takes_latecomers":
        return rejected(ask, *kind, "Registration closed - league already started")
    known = [id_ for id_, other in players.items() if other["contact_endpoint"] == meta["contact_endpoint"]]
    player_id = known[0] if known else "P%02d" % (len(players) + 1)
    players[player_id] = meta
    answer = welcome(ask, *kind, player_id)
    if STARTS_BY_ITSELF and len(players) == PLAYERS_AT_START and referees:
        threading.Timer(1.5, begun.set).start()
    return answer


def REFEREE_REGISTER_REQUEST(ask):
    required(ask, "referee_meta.contact_endpoint")
    endpoint = ask["referee_meta"]["contact_endpoint"]
    known = [id_ for id_, other in referees.items() if other == endpoint]
    referee_id = known[0] if known else "REF%02d" % (len(referees) + 1)
    referees[referee_id] = endpoint
    return welcome(ask, "REFEREE_REGISTER_RESPONSE", "referee_id", referee_id)


def trusted(ask):
    kind, _, sender = ask["sender"].partition(":")
    if not ask.get("auth_token"):
        raise Refused("E011")
    if sender not in tokens:
        raise Refused("E013" if kind == "referee" else "E005")
    if ask["auth_token"] != tokens[sender]:
        raise Refused("E012")
    return kind, sender


def START_LEAGUE(ask):
    if ask.get("auth_token") in tokens.values():
        raise Refused("E012")
    if ask.get("league_id") == "league_of_nobody":
        raise Refused("E007")
    begun.set()
    return message("LEAGUE_STATUS", ask["conversation_id"], league_id=ask["league_id"], status="running",
                   current_round=1, total_rounds=3, matches_completed=len(results))


def rows():
    table = {id_: [0, 0, 0, 0, 0] for id_ in players}
    for result in results.values():
        for id_, points in result["score"].items():
            row = table[id_]
            row[0] += 1
            row[1] += points == 3
            row[2] += points == 1
            row[3] += points == 0
            row[4] += 2 if points == 3 and FAULT == "counts_wrongly" else points
    order = sorted(table, key=lambda id_: (-table[id_][4], -table[id_][1], id_))
    return [dict(zip(("rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points"),
                     (rank, id_, players[id_]["display_name"], *table[id_]))) for rank, id_ in enumerate(order, 1)]


def LEAGUE_QUERY(ask):
    _, asker = trusted(ask)
    kind, about = ask["query_type"], (ask.get("query_params") or {}).get("player_id", asker)
    if kind in ("GET_NEXT_MATCH", "GET_PLAYER_STATS") and about not in players:
        return message("LEAGUE_QUERY_RESPONSE", ask["conversation_id"], query_type=kind, success=False, data=None,
                       error={"error_code": "E005", "error_name": "PLAYER_NOT_REGISTERED",
                              "error_description": "Player " + about + " not found"})
    data = {
        "GET_STANDINGS": lambda: {"standings": rows()},
        "GET_SCHEDULE": lambda: {"rounds": []},
        "GET_NEXT_MATCH": lambda: {"next_match": None},
        "GET_PLAYER_STATS": lambda: {"player_id": about, "stats": next(
            {name: row[name] for name in ("played", "wins", "draws", "losses", "points")}
            for row in rows() if row["player_id"] == about)},
    }.get(kind)
    if not data:
        raise Refused("E002")
    return message("LEAGUE_QUERY_RESPONSE", ask["conversation_id"], query_type=kind, success=True, data=data())


def MATCH_RESULT_REPORT(ask):
    one, result = matches.get(ask["match_id"]), ask["result"]
    if FAULT != "takes_forged_reports":
        kind, sender = trusted(ask)
        if kind != "referee":
            raise Refused("E012")
    if not one:
        raise Refused("E006")
    if FAULT != "takes_forged_reports" and one["referee_id"] != sender:
        raise Refused("E012")
    pair = {one["player_A_id"], one["player_B_id"]}
    if set(result["score"]) != pair or sorted(result["score"].values()) not in ([0, 3], [1, 1], [0, 0]):
        raise Refused("E002")
    with reported:
        if results.get(ask["match_id"], result) != result:
            raise Refused("E016")
        results[ask["match_id"]] = result
        reported.notify_all()
    if HABIT == "assigns":
        return {"status": "ok"}
    return message("MATCH_RESULT_ACK", ask["conversation_id"], match_id=ask["match_id"], status="recorded")


SERVED = {made.__name__: made for made in (LEAGUE_REGISTER_REQUEST, REFEREE_REGISTER_REQUEST, START_LEAGUE, LEAGUE_QUERY,
                                           MATCH_RESULT_REPORT)}


def league_answer(ask):
    try:
        envelope(ask)
        served = SERVED.get(ask["message_type"])
        if not served or (served is START_LEAGUE and STARTS_BY_ITSELF):
            raise Refused("E008")
        with lock:
            return served(ask)
    except Refused as refusal:
        return message("LEAGUE_ERROR", ask.get("conversation_id") or "conv-error", error_code=refusal.code,
                       error_name="REFUSED", error_description="the league refuses this",
                       original_message_type=ask.get("message_type"), context={})


def unwrapped(request):
    """The league message of a request, if this manager's habit knows it."""
    params = request.get("params") if isinstance(request, dict) else None
    if HABIT == "bare":
        return request if isinstance(request, dict) and "jsonrpc" not in request else None
    if not isinstance(params, dict):
        return None
    if HABIT == "wrapped":
        return params.get("message") if request.get("method") == "handle_message" else None
    if HABIT == "types_as_methods" and not str(request.get("method", "")).isupper():
        return None
    return params if params.keys() & {"player_meta", "referee_meta", "message_type", "sender"} else None


def answer(request):
    if isinstance(request, list):
        return 200, [answer(one)[1] for one in request]
    ask = unwrapped(request)
    id_ = request.get("id")
    if ask is None:
        code = -32600 if "method" not in request else -32602 if isinstance(request.get("params"), list) else -32601
        return 200, {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": "Method not found"}}
    result = league_answer(ask)
    if HABIT == "bare":
        return 200, result
    response = {"jsonrpc": "2.0", "id": id_, "result": result}
    return 200, {**response, "error": None} if HABIT == "error_null" else response


def tell(endpoints, body):
    for endpoint in endpoints:
        web.post(endpoint, {"jsonrpc": "2.0", "id": 1, "method": body["message_type"].lower(), "params": body})


def round_robin(ids):
    if len(ids) == 4:
        a, b, c, d = ids
        rounds = [[(a, b), (c, d)], [(c, a), (d, b)], [(d, a), (c, b)]]
    else:
        rounds = [[pair] for pair in itertools.combinations(ids, 2)]
    if FAULT == "plays_a_pair_twice":
        rounds[-1] = rounds[0]
    return rounds


def assign(one, endpoint):
    fields = {name: one[name] for name in ("match_id", "game_type", "player_A_id", "player_B_id")}
    kind = "MATCH_ASSIGNMENT" if HABIT == "assigns" else "START_MATCH"
    tell([endpoint], message(kind, one["conversation_id"], round_id=one["round_id"], **fields,
                             player_A_endpoint=players[one["player_A_id"]]["contact_endpoint"],
                             player_B_endpoint=players[one["player_B_id"]]["contact_endpoint"]))


def manage():
    begun.wait()
    ids = list(players)[:PLAYERS_AT_START]
    everyone = [players[id_]["contact_endpoint"] for id_ in ids]
    judges = list(referees.items())
    for round_id, pairs in enumerate(round_robin(ids), 1):
        own = []
        for number, (a, b) in enumerate(pairs, 1):
            referee_id, endpoint = judges[number % len(judges)]
            match_id = "R%dM%d" % (round_id, number)
            own.append({"match_id": match_id, "game_type": "even_odd", "player_A_id": a, "player_B_id": b,
                        "referee_endpoint": endpoint, "referee_id": referee_id, "round_id": round_id,
                        "conversation_id": "conv-%s-001" % match_id.lower()})
            matches[match_id] = own[-1]
        shown = [{name: one[name] for name in one if name not in ("referee_id", "round_id", "conversation_id")} for one in own]
        if FAULT == "tells_endpoints":
            for one in shown:
                one["player_A_endpoint"] = players[one["player_A_id"]]["contact_endpoint"]
        by_assignment = HABIT in ("assigns", "wrapped")
        body = message("ROUND_ANNOUNCEMENT", "conv-round-%d" % round_id, league_id="league", round_id=round_id, matches=shown)
        tell(everyone + ([] if by_assignment else list(referees.values())), body)
        for one in own if by_assignment else []:
            assign(one, one["referee_endpoint"])
        for count in range(1, len(own) + 1):
            with reported:
                reported.wait_for(lambda: sum(one["match_id"] in results for one in own) >= count, timeout=60)
            with lock:
                standings = rows()
            tell(everyone, message("LEAGUE_STANDINGS_UPDATE", "conv-standings-%d" % round_id, league_id="league",
                                   round_id=round_id, standings=standings))
        tell(everyone + list(referees.values()), message(
            "ROUND_COMPLETED", "conv-completed-%d" % round_id, league_id="league", round_id=round_id,
            matches_completed=len(own), next_round_id=round_id + 1,
            summary={"total_matches": len(own), "wins": len(own), "draws": 0, "technical_losses": 0}))
    final = rows()
    champion = {name: final[0][name] for name in ("player_id", "display_name", "points")}
    tell(everyone + list(referees.values()), message(
        "LEAGUE_COMPLETED", "conv-league-completed", league_id="league", total_rounds=3, total_matches=len(results),
        champion=champion, final_standings=[{name: row[name] for name in ("rank", "player_id", "points")} for row in final]))


server = web.server(answer)
web.tell(listening=web.address(server))
web.run(server, then=manage)
