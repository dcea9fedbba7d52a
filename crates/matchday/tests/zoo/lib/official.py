"""A referee as the protocol's documents have it, in one of their editions: the habits of the zoo are told as departures
from it."""
import itertools
import random
import threading
import time
from http.server import HTTPServer, ThreadingHTTPServer

import web
from documents import forbidden, kind_of, method_of


def stamp(ahead=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


class Official:
    """With the habit `forbids` it refuses keys that the documents do not print; with `single_threaded` it does one thing at
    a time, and plays a match before it answers the announcement; with `asks` it learns players' endpoints by GET_PLAYERS alone."""

    capacity = 5

    def __init__(self, manager=None, name=None, edition="careful", habits=(), port=0):
        self.manager, self.name = (manager, name) if manager else web.arguments()
        self.edition, self.habits, self.port = edition, habits, port
        self.ids = itertools.count(1)
        self.me, self.players = {}, {}

    # What others may do otherwise.

    def take(self, request):
        """Begins the matches that a request gives to this referee. False: it does not know what this is."""
        if kind_of(self.edition, request) == "ROUND_ANNOUNCEMENT":
            announced = request["params"]
            for match in announced["matches"]:
                if match["referee_endpoint"] == web.address(self.server):
                    players = [(match["player_%s_id" % seat], self.told(match, seat)) for seat in "AB"]
                    self.begin(announced, match["match_id"], players)
        return True

    def told(self, match, seat):
        """The endpoint in the announcement, which no document prints: to the letter, it is not read."""
        if self.edition != "careful" or "asks" in self.habits:
            return None
        return match.get("player_%s_endpoint" % seat)

    def puzzled(self, request):
        """What it answers where it does not know what it was sent."""
        error = {"code": -32601, "message": "Method not found"}
        return 200, {"jsonrpc": "2.0", "id": request.get("id"), "error": error}

    def chosen(self, answer):
        return answer.get("parity_choice")

    def game_over(self, message):
        return message

    # What all do alike.

    def envelope(self, kind, conversation):
        if self.edition == "001":
            return {"message_type": kind}
        return {"protocol": "league.v2", "message_type": kind, "sender": "referee:" + self.me.get("referee_id", self.name),
                "timestamp": stamp(), "conversation_id": conversation}

    def credentials(self):
        token = self.me.get("auth_token")
        return {"auth_token": token} if self.edition == "careful" and token else {}

    def call(self, url, message):
        method = method_of(self.edition, message["message_type"])
        answer = web.post(url, {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": message})
        result = answer.get("result", answer.get("error"))
        if isinstance(result, dict) and ("error" in answer or result.get("message_type") == "LEAGUE_ERROR"):
            web.tell(refused=result, sent=message["message_type"])
        return result

    def endpoint(self, player, league_id):
        """A careful referee asks for it; to the letter, P01 is on the port that the system flow gives it."""
        if self.edition == "careful" and player not in self.players:
            listed = self.call(self.manager, {
                **self.envelope("LEAGUE_QUERY", "conv-query-players"), **self.credentials(), "league_id": league_id,
                "query_type": "GET_PLAYERS", "query_params": {}})
            self.players = {known["player_id"]: known["contact_endpoint"] for known in listed["data"]["players"]}
        return self.players.get(player) or "http://localhost:%d/mcp" % (8100 + int(player[1:]))

    def both(self, ask, seats):
        """Asks both players at once."""
        answers = [None, None]

        def one(number):
            try:
                answers[number] = ask(*seats[number])
            except Exception as error:
                web.tell(trouble=repr(error))

        threads = [threading.Thread(target=one, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def begin(self, params, match_id, players):
        game = (params["league_id"], params["round_id"], match_id, players)
        match = threading.Thread(target=self.play, args=game, daemon=True)
        match.start()
        if "single_threaded" in self.habits:
            match.join()

    def play(self, league_id, round_id, match_id, players):
        conversation = "conv-" + match_id.lower() + "-001"
        (a, url_a), (b, url_b) = [(player, url or self.endpoint(player, league_id)) for player, url in players]
        seats = [(a, b, url_a, "PLAYER_A"), (b, a, url_b, "PLAYER_B")]
        common = {**self.credentials(), "match_id": match_id, "game_type": "even_odd"}

        def invite(player, opponent, url, role):
            return self.call(url, {
                **self.envelope("GAME_INVITATION", conversation), **common, "league_id": league_id,
                "round_id": round_id, "role_in_match": role, "opponent_id": opponent, "conversation_id": conversation})

        def choose(player, opponent, url, role):
            return self.chosen(self.call(url, {
                **self.envelope("CHOOSE_PARITY_CALL", conversation), **common, "player_id": player,
                "deadline": stamp(30), "context": {"opponent_id": opponent, "round_id": round_id}}))

        joined = self.both(invite, seats)
        assert all(answer and answer.get("accept") for answer in joined), joined
        choices = dict(zip((a, b), self.both(choose, seats)))
        number = random.randint(1, 10)
        parity = "odd" if number % 2 else "even"
        right = [player for player in (a, b) if choices[player] == parity]
        winner = right[0] if len(right) == 1 else None
        score = {player: 3 if player == winner else 0 for player in (a, b)} if winner else {a: 1, b: 1}
        over = self.game_over({**self.envelope("GAME_OVER", conversation), **common, "game_result": {
            "status": "WIN" if winner else "DRAW", "winner_player_id": winner, "drawn_number": number,
            "number_parity": parity, "choices": choices, "reason": "the number was %d" % number}})
        self.both(lambda player, opponent, url, role: self.call(url, over), seats)
        report = {**self.envelope("MATCH_RESULT_REPORT", conversation), **self.credentials(),
                  "league_id": league_id, "round_id": round_id, "match_id": match_id, "game_type": "even_odd",
                  "result": {"winner": winner, "score": score,
                             "details": {"drawn_number": number, "choices": choices}}}
        receipt = self.call(self.manager, report)
        web.tell(reported=match_id, answer=receipt.get("message_type"))

    def answer(self, request):
        if "forbids" in self.habits and (refusal := forbidden(request)):
            web.tell(forbids=refusal["error"]["message"])
            return 200, refusal
        if not self.take(request):
            web.tell(puzzled=request.get("method") or request.get("message_type"))
            return self.puzzled(request)
        return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {"status": "ok"}}

    def register(self):
        meta = {"display_name": self.name, "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": web.address(self.server), "max_concurrent_matches": self.capacity}
        answer = self.call(self.manager, {
            **self.envelope("REFEREE_REGISTER_REQUEST", "conv-referee-" + self.name), "referee_meta": meta})
        self.me.update(answer)
        web.tell(registered=self.me["referee_id"])

    def listen(self):
        kind = HTTPServer if "single_threaded" in self.habits else ThreadingHTTPServer
        self.server = web.server(self.answer, port=self.port, kind=kind)

    def serve(self):
        self.listen()
        web.run(self.server, then=self.register)
