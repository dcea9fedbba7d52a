"""A manager as the protocol's documents have it, in one of their editions: it plays the league of four players and two
referees that the system flow describes, as soon as they are there."""
import secrets
import threading
import time

import web
from documents import PRINTED_WITH_ENVELOPE, forbidden, method_of

LEAGUE = "league_2025_even_odd"
SCHEDULE = [
    [("P01", "P02"), ("P03", "P04")],
    [("P03", "P01"), ("P04", "P02")],
    [("P04", "P01"), ("P03", "P02")],
]
ERRORS = {"E011": "AUTH_TOKEN_MISSING", "E012": "AUTH_TOKEN_INVALID"}


class Refused(Exception):
    """The code of a LEAGUE_ERROR."""


class Chair:
    """Its habits: `forbids` keys that the documents do not print; knows the `four_queries` of the catalogue and no
    GET_PLAYERS; announces rounds to `players_only`; gives out `no_tokens`; `checks_tokens` in registrations too."""

    def __init__(self, edition="careful", habits=(), port=0):
        self.edition, self.habits, self.port = edition, habits, port
        self.players, self.referees, self.tokens = {}, {}, set()
        self.matches, self.results = {}, {}
        self.changed = threading.Condition()
        self.handlers = {
            "REFEREE_REGISTER_REQUEST": lambda ask: self.welcome(ask, self.referees, "REF", "referee"),
            "LEAGUE_REGISTER_REQUEST": lambda ask: self.welcome(ask, self.players, "P", "player"),
            "MATCH_RESULT_REPORT": self.record,
            "LEAGUE_QUERY": self.query,
            "START_LEAGUE": self.status,
        }

    def message(self, kind, conversation, **fields):
        message = {"message_type": kind}
        if self.edition != "001" or kind in PRINTED_WITH_ENVELOPE:
            message.update(protocol="league.v2", sender="league_manager", conversation_id=conversation,
                           timestamp=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        return {**message, **fields}

    def reply(self, ask, kind, **fields):
        return self.message(kind, ask.get("conversation_id"), **fields)

    def answer(self, request):
        if "forbids" in self.habits and (refusal := forbidden(request)):
            web.tell(forbids=refusal["error"]["message"])
            return 200, refusal
        response = {"jsonrpc": "2.0", "id": request.get("id")}
        ask = request.get("params") or {}
        kind = ask.get("message_type")
        if kind not in self.handlers or request["method"] != method_of(self.edition, kind) and self.edition == "careful":
            response["error"] = {"code": -32601, "message": "Method not found"}
            return 200, response
        try:
            response["result"] = self.handlers[kind](ask)
        except Refused as refused:
            code, = refused.args
            web.tell(refused=code, asked=kind)
            response["result"] = self.reply(ask, "LEAGUE_ERROR", error_code=code, error_description=ERRORS[code],
                                            original_message_type=kind)
        return 200, response

    def check_token(self, ask):
        if self.edition != "careful" or "no_tokens" in self.habits:
            return
        if ask.get("auth_token") is None:
            raise Refused("E011")
        if ask["auth_token"] not in self.tokens:
            raise Refused("E012")

    def welcome(self, ask, members, prefix, role):
        if "checks_tokens" in self.habits and "auth_token" in ask:
            self.check_token(ask)
        with self.changed:
            agent_id = "%s%02d" % (prefix, len(members) + 1)
            members[agent_id] = ask[role + "_meta"]
            self.changed.notify_all()
        fields = {"status": "ACCEPTED", role + "_id": agent_id, "reason": None}
        if self.edition == "careful":
            fields["league_id"] = LEAGUE
            if "no_tokens" not in self.habits:
                fields["auth_token"] = "tok_%s_%s" % (agent_id.lower(), secrets.token_hex(6))
                self.tokens.add(fields["auth_token"])
        web.tell(welcome=agent_id)
        kind = "LEAGUE" if role == "player" else "REFEREE"
        return self.reply(ask, kind + "_REGISTER_RESPONSE", **fields)

    def record(self, report):
        self.check_token(report)
        with self.changed:
            self.results.setdefault(report["match_id"], report["result"])
            self.changed.notify_all()
        return self.reply(report, "MATCH_RESULT_ACK", match_id=report["match_id"], status="recorded")

    def query(self, ask):
        self.check_token(ask)
        kind = ask["query_type"]
        if kind == "GET_STANDINGS":
            data = {"standings": self.table()}
        elif kind == "GET_SCHEDULE":
            data = {"schedule": list(self.matches.values())}
        elif kind == "GET_PLAYERS" and self.edition == "careful" and "four_queries" not in self.habits:
            data = {"players": [{"player_id": player, "display_name": meta["display_name"],
                                 "contact_endpoint": meta["contact_endpoint"]} for player, meta in self.players.items()]}
        else:
            web.tell(unknown_query=kind)
            error = {"error_code": "E003", "error_name": "MISSING_REQUIRED_FIELD",
                     "error_description": "query_type is not one of the four types"}
            return self.reply(ask, "LEAGUE_QUERY_RESPONSE", query_type=kind, success=False, error=error)
        return self.reply(ask, "LEAGUE_QUERY_RESPONSE", query_type=kind, success=True, data=data)

    def status(self, ask):
        return self.reply(ask, "LEAGUE_STATUS", league_id=LEAGUE, status="running", current_round=1,
                          total_rounds=len(SCHEDULE), matches_completed=len(self.results))

    def table(self):
        rows = []
        for player, meta in self.players.items():
            points = [result["score"][player] for result in self.results.values() if player in result["score"]]
            rows.append({"player_id": player, "display_name": meta["display_name"], "played": len(points),
                         "wins": points.count(3), "draws": points.count(1), "losses": points.count(0),
                         "points": sum(points)})
        rows.sort(key=lambda row: -row["points"])
        return [{"rank": rank, **row} for rank, row in enumerate(rows, 1)]

    def say(self, members, kind, conversation, **fields):
        message = self.message(kind, conversation, league_id=LEAGUE, **fields)
        body = {"jsonrpc": "2.0", "id": 1, "method": method_of(self.edition, kind), "params": message}
        for member, meta in members.items():
            try:
                answer = web.post(meta["contact_endpoint"], body)
                if "error" in answer:
                    web.tell(refused=answer["error"], sent=kind, to=member)
            except OSError as error:
                web.tell(trouble=repr(error), sent=kind, to=member)

    def until(self, condition):
        with self.changed:
            self.changed.wait_for(condition)

    def plan(self):
        referees = [meta["contact_endpoint"] for meta in self.referees.values()]
        for round_id, pairs in enumerate(SCHEDULE, 1):
            for number, (a, b) in enumerate(pairs, 1):
                match_id = "R%dM%d" % (round_id, number)
                self.matches[match_id] = {"match_id": match_id, "game_type": "even_odd", "player_A_id": a,
                                          "player_B_id": b, "referee_endpoint": referees[number - 1]}

    def manage(self):
        self.until(lambda: len(self.players) == 4 and len(self.referees) == 2)
        self.plan()
        everyone = {**self.players, **self.referees}
        last = len(SCHEDULE)
        for round_id in range(1, last + 1):
            ids = [match_id for match_id in self.matches if match_id.startswith("R%dM" % round_id)]
            self.say(self.players if "players_only" in self.habits else everyone, "ROUND_ANNOUNCEMENT",
                     "conv-round-%d-announce" % round_id, round_id=round_id,
                     matches=[self.matches[match_id] for match_id in ids])
            self.until(lambda: all(match_id in self.results for match_id in ids))
            self.say(self.players, "LEAGUE_STANDINGS_UPDATE", "conv-round-%d-standings" % round_id, round_id=round_id,
                     standings=self.table())
            scores = [set(self.results[match_id]["score"].values()) for match_id in ids]
            wins, draws = scores.count({3, 0}), scores.count({1})
            self.say(everyone, "ROUND_COMPLETED", "conv-round%d-complete" % round_id, round_id=round_id,
                     matches_completed=len(ids), next_round_id=round_id + 1 if round_id < last else None,
                     summary={"total_matches": len(ids), "wins": wins, "draws": draws,
                              "technical_losses": len(ids) - wins - draws})
        table = self.table()
        self.say(everyone, "LEAGUE_COMPLETED", "conv-league-complete", total_rounds=last, total_matches=len(self.matches),
                 champion={key: table[0][key] for key in ("player_id", "display_name", "points")},
                 final_standings=[{key: row[key] for key in ("rank", "player_id", "points")} for row in table])
        forfeits = [result for result in self.results.values() if result["details"]["drawn_number"] is None]
        web.tell(completed=len(self.results), technical_losses=len(forfeits))

    def listen(self):
        self.server = web.server(self.answer, port=self.port)
        web.tell(listening=web.address(self.server))
