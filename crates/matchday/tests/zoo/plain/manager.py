import secrets
import threading

from agent import Agent, tell

LEAGUE = "league_2025_even_odd"
# The schedule that the system flow prints for four players.
SCHEDULE = [
    [("P01", "P02"), ("P03", "P04")],
    [("P03", "P01"), ("P04", "P02")],
    [("P04", "P01"), ("P03", "P02")],
]
ERRORS = {"E011": "AUTH_TOKEN_MISSING", "E012": "AUTH_TOKEN_INVALID"}


class Refused(Exception):
    """The code of a LEAGUE_ERROR."""


class Manager(Agent):
    def __init__(self, *given):
        super().__init__(*given)
        self.players, self.referees, self.tokens, self.results = {}, {}, {}, {}
        self.matches = {}
        self.changed = threading.Condition()
        self.handlers = {
            "REFEREE_REGISTER_REQUEST": self.register_referee,
            "LEAGUE_REGISTER_REQUEST": self.register_player,
            "MATCH_RESULT_REPORT": self.record,
            "LEAGUE_QUERY": self.answer_query,
            "START_LEAGUE": self.status,
        }

    def sender(self):
        return "league_manager"

    def handle(self, request):
        try:
            return super().handle(request)
        except Refused as refused:
            code, message = refused.args[0], request["params"]
            tell(refused_with=code, message=message["message_type"], why=refused.args[1])
            return self.message("LEAGUE_ERROR", message.get("conversation_id"), error_code=code,
                                error_description=ERRORS[code], original_message_type=message["message_type"])

    def check_token(self, message):
        if self.edition != "careful" or "no_tokens" in self.habits:
            return
        token = message.get("auth_token")
        if token is None:
            raise Refused("E011", "auth_token is required after registration")
        if token not in self.tokens:
            raise Refused("E012", "unknown token")

    def register(self, kind, agents, prefix, message):
        if "checks_tokens" in self.habits and "auth_token" in message:
            self.check_token(message)
        role = "player" if prefix == "P" else "referee"
        with self.changed:
            agent_id = "%s%02d" % (prefix, len(agents) + 1)
            agents[agent_id] = message[role + "_meta"]
            self.changed.notify_all()
        fields = {"status": "ACCEPTED", role + "_id": agent_id, "reason": None}
        if self.edition == "careful":
            fields["league_id"] = LEAGUE
            if "no_tokens" not in self.habits:
                token = fields["auth_token"] = "tok_%s_%s" % (agent_id.lower(), secrets.token_hex(6))
                self.tokens[token] = agent_id
        return self.message(kind, message.get("conversation_id"), **fields)

    def register_referee(self, message):
        return self.register("REFEREE_REGISTER_RESPONSE", self.referees, "REF", message)

    def register_player(self, message):
        return self.register("LEAGUE_REGISTER_RESPONSE", self.players, "P", message)

    def record(self, report):
        self.check_token(report)
        with self.changed:
            self.results.setdefault(report["match_id"], report["result"])
            self.changed.notify_all()
        return self.message("MATCH_RESULT_ACK", report.get("conversation_id"), match_id=report["match_id"],
                            status="recorded")

    def answer_query(self, query):
        self.check_token(query)
        kind = query["query_type"]
        if kind == "GET_STANDINGS":
            data = {"standings": self.table()}
        elif kind == "GET_SCHEDULE":
            data = {"schedule": list(self.matches.values())}
        elif kind == "GET_PLAYERS" and self.edition == "careful" and "four_queries" not in self.habits:
            data = {"players": [{"player_id": player, "display_name": meta["display_name"],
                                 "contact_endpoint": meta["contact_endpoint"]} for player, meta in self.players.items()]}
        else:
            tell(unknown_query=kind)
            error = {"error_code": "E003", "error_name": "MISSING_REQUIRED_FIELD",
                     "error_description": "query_type must be one of the four types"}
            return self.message("LEAGUE_QUERY_RESPONSE", query.get("conversation_id"), query_type=kind, success=False,
                                error=error)
        return self.message("LEAGUE_QUERY_RESPONSE", query.get("conversation_id"), query_type=kind, success=True, data=data)

    def status(self, start):
        return self.message("LEAGUE_STATUS", start.get("conversation_id"), league_id=LEAGUE, status="running",
                            current_round=1, total_rounds=len(SCHEDULE), matches_completed=len(self.results))

    def table(self):
        rows = []
        for player, meta in self.players.items():
            points = [result["score"][player] for result in self.results.values() if player in result["score"]]
            rows.append({"rank": 0, "player_id": player, "display_name": meta["display_name"], "played": len(points),
                         "wins": points.count(3), "draws": points.count(1), "losses": points.count(0),
                         "points": sum(points)})
        rows.sort(key=lambda row: -row["points"])
        for rank, row in enumerate(rows, 1):
            row["rank"] = rank
        return rows

    def send_all(self, agents, message):
        for agent, meta in agents.items():
            try:
                self.call(meta["contact_endpoint"], message)
            except Exception as error:
                tell(trouble=repr(error), agent=agent, message=message["message_type"])

    def wait_for(self, condition):
        with self.changed:
            self.changed.wait_for(condition)

    def run_league(self):
        self.wait_for(lambda: len(self.players) == 4 and len(self.referees) == 2)
        referees = [meta["contact_endpoint"] for meta in self.referees.values()]
        for round_id, pairs in enumerate(SCHEDULE, 1):
            for number, (a, b) in enumerate(pairs, 1):
                match_id = "R%dM%d" % (round_id, number)
                self.matches[match_id] = {
                    "match_id": match_id, "game_type": "even_odd", "round_id": round_id, "player_A_id": a, "player_B_id": b,
                    "referee_endpoint": referees[number - 1]}
        everyone = {**self.players, **self.referees}
        for round_id, pairs in enumerate(SCHEDULE, 1):
            matches = [match for match in self.matches.values() if match["round_id"] == round_id]
            printed = [{key: match[key] for key in match if key != "round_id"} for match in matches]
            self.send_all(self.players if "players_only" in self.habits else everyone, self.message(
                "ROUND_ANNOUNCEMENT", "conv-round-%d-announce" % round_id, league_id=LEAGUE, round_id=round_id,
                matches=printed))
            self.wait_for(lambda: all(match["match_id"] in self.results for match in matches))
            self.send_all(self.players, self.message(
                "LEAGUE_STANDINGS_UPDATE", "conv-round-%d-standings" % round_id, league_id=LEAGUE, round_id=round_id,
                standings=self.table()))
            results = [self.results[match["match_id"]] for match in matches]
            technical = sum(result["details"]["drawn_number"] is None for result in results)
            draws = sum(set(result["score"].values()) == {1} for result in results)
            self.send_all(everyone, self.message(
                "ROUND_COMPLETED", "conv-round%d-complete" % round_id, league_id=LEAGUE, round_id=round_id,
                matches_completed=len(matches), next_round_id=round_id + 1 if round_id < len(SCHEDULE) else None,
                summary={"total_matches": len(matches), "wins": len(matches) - draws - technical, "draws": draws,
                         "technical_losses": technical}))
        table = self.table()
        printed = ("rank", "player_id", "display_name", "points") if self.edition == "careful" else (
            "rank", "player_id", "points")
        self.send_all(everyone, self.message(
            "LEAGUE_COMPLETED", "conv-league-complete", league_id=LEAGUE, total_rounds=len(SCHEDULE),
            total_matches=len(self.matches), champion={
                key: table[0][key] for key in ("player_id", "display_name", "points")},
            final_standings=[{key: row[key] for key in printed} for row in table]))
        technical = sum(result["details"]["drawn_number"] is None for result in self.results.values())
        tell(completed=len(self.results), technical_losses=technical)
