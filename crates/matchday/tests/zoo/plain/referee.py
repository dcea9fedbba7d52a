import random
import threading

from agent import Agent, now, tell

NAMES = ["Alpha", "Beta"]


class Referee(Agent):
    referee_id = None

    def __init__(self, *given):
        super().__init__(*given)
        self.players = {}
        self.standings = {}
        self.handlers = {
            "ROUND_ANNOUNCEMENT": self.begin,
            "ROUND_COMPLETED": self.acknowledge,
            "LEAGUE_COMPLETED": self.end,
            "LEAGUE_ERROR": self.read_error,
        }

    def sender(self):
        own_name = "REF%02d" % self.number if self.edition == "002" else NAMES[self.number - 1].lower()
        return "referee:" + (self.referee_id or own_name)

    def register(self, manager):
        self.manager = manager
        name = NAMES[self.number - 1]
        answer = self.call(manager, self.message(
            "REFEREE_REGISTER_REQUEST", "conv-ref-%s-reg-001" % name.lower(), referee_meta={
                "display_name": "Referee " + name, "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": self.endpoint, "max_concurrent_matches": 2}))
        if answer.get("status") != "ACCEPTED":
            tell(rejected=answer)
            return
        self.referee_id = answer["referee_id"]
        self.token = answer.get("auth_token")
        tell(registered=self.referee_id)

    def begin(self, announcement):
        for match in announcement["matches"]:
            if match["referee_endpoint"] != self.endpoint:
                continue
            if "single_threaded" in self.habits:
                self.play(announcement, match)
            else:
                threading.Thread(target=self.play, args=(announcement, match), daemon=True).start()
        return {"status": "ok"}

    def endpoint_of(self, player, league_id):
        if self.edition == "careful" and player not in self.players:
            answer = self.call(self.manager, self.message(
                "LEAGUE_QUERY", "conv-query-players", league_id=league_id, query_type="GET_PLAYERS", query_params={}))
            for known in (answer.get("data") or {}).get("players", []):
                self.players[known["player_id"]] = known["contact_endpoint"]
        # The table of the system flow: P01 is on port 8101.
        return self.players.get(player) or "http://localhost:%d/mcp" % (8100 + int(player[1:]))

    def ask_both(self, players, question):
        """The answers of both players; None for one that has not answered."""
        answers = {}

        def ask(player, opponent, role):
            try:
                answers[player] = self.call(self.players[player], question(player, opponent, role))
            except Exception as error:
                tell(trouble=repr(error), player=player)
                answers[player] = None

        a, b = players
        threads = [threading.Thread(target=ask, args=seat) for seat in ((a, b, "PLAYER_A"), (b, a, "PLAYER_B"))]
        for thread in threads:
            thread.start()
            if "single_threaded" in self.habits:
                thread.join()
        for thread in threads:
            thread.join()
        return answers

    def play(self, announcement, match):
        league_id, round_id = announcement["league_id"], announcement["round_id"]
        match_id, players = match["match_id"], (match["player_A_id"], match["player_B_id"])
        conversation = "conv-%s-001" % match_id.lower()
        for player in players:
            self.players[player] = self.endpoint_of(player, league_id)
        joined = self.ask_both(players, lambda player, opponent, role: self.message(
            "GAME_INVITATION", conversation, league_id=league_id, round_id=round_id, match_id=match_id,
            game_type="even_odd", role_in_match=role, opponent_id=opponent, conversation_id=conversation))
        choices = dict.fromkeys(players)
        if all(answer and answer.get("accept") is True for answer in joined.values()):
            answers = self.ask_both(players, lambda player, opponent, role: self.message(
                "CHOOSE_PARITY_CALL", conversation, match_id=match_id, player_id=player, game_type="even_odd",
                context={"opponent_id": opponent, "round_id": round_id,
                         "your_standings": self.standings.get(player, {"wins": 0, "losses": 0, "draws": 0})},
                deadline=now(30)))
            for player, answer in answers.items():
                if answer and answer.get("parity_choice") in ("even", "odd"):
                    choices[player] = answer["parity_choice"]
        else:
            tell(not_joined=joined)
            answers = joined
        self.finish(match_id, league_id, round_id, conversation, players, choices, answers)

    def finish(self, match_id, league_id, round_id, conversation, players, choices, answers):
        number = parity = winner = None
        silent = [player for player in players if choices[player] is None]
        if silent:
            status, reason = "TECHNICAL_LOSS", "%s failed to respond within timeout" % " and ".join(silent)
            present = [player for player in players if answers[player] and player not in silent]
            winner = present[0] if len(present) == 1 else None
            score = {player: 3 if player == winner else 0 for player in players}
        else:
            number = random.randint(1, 10)
            parity = "even" if number % 2 == 0 else "odd"
            right = [player for player in players if choices[player] == parity]
            winner = right[0] if len(right) == 1 else None
            status, reason = ("WIN" if winner else "DRAW"), "number was %d (%s)" % (number, parity)
            score = {player: 1 if winner is None else 3 if player == winner else 0 for player in players}
        self.ask_both(players, lambda *_: self.message(
            "GAME_OVER", conversation, match_id=match_id, game_type="even_odd", game_result={
                "status": status, "winner_player_id": winner, "drawn_number": number, "number_parity": parity,
                "choices": choices, "reason": reason}))
        for player in players:
            record = self.standings.setdefault(player, {"wins": 0, "losses": 0, "draws": 0})
            record["draws" if status == "DRAW" else "wins" if player == winner else "losses"] += 1
        self.call(self.manager, self.message(
            "MATCH_RESULT_REPORT", conversation, league_id=league_id, round_id=round_id, match_id=match_id,
            game_type="even_odd", result={"winner": winner, "score": score, "details": {
                "drawn_number": number, "choices": choices}}))

    def read_error(self, error):
        tell(told=error)
        return {"status": "ok"}

    def end(self, completed):
        tell(referee_ended=self.referee_id)
        return {"status": "ok"}
