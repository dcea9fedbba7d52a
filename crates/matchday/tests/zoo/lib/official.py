"""A referee as the protocol's description has it, in the standard dialect: the habits of the zoo are told as departures
from it."""
import itertools
import random
import threading
import time

import web


def stamp(ahead=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


class Official:
    capacity = 5

    def __init__(self):
        self.manager, self.name = web.arguments()
        self.ids = itertools.count(1)
        self.me = {}

    # What others may do otherwise.

    def take(self, request):
        """Begins the matches that a request gives to this referee. False: it does not know what this is."""
        if request.get("method") == "notify_round":
            for match in request["params"]["matches"]:
                if match["referee_id"] == self.me["referee_id"]:
                    players = [(match["player_%s_id" % seat], match["player_%s_endpoint" % seat]) for seat in "AB"]
                    self.begin(request["params"], match["match_id"], players)
        return True

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
        return {"protocol": "league.v2", "message_type": kind, "sender": "referee:" + self.me.get("referee_id", self.name),
                "timestamp": stamp(), "conversation_id": conversation}

    def call(self, url, method, message):
        body = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": message}
        return web.post(url, body)["result"]

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
        threading.Thread(target=self.play, args=game, daemon=True).start()

    def play(self, league_id, round_id, match_id, players):
        conversation = "conv-" + match_id.lower() + "-001"
        (a, url_a), (b, url_b) = players
        seats = [(a, b, url_a, "PLAYER_A"), (b, a, url_b, "PLAYER_B")]
        common = {"auth_token": "tok_made_up_for_players", "match_id": match_id, "game_type": "even_odd"}

        def invite(player, opponent, url, role):
            return self.call(url, "handle_game_invitation", {
                **self.envelope("GAME_INVITATION", conversation), **common, "league_id": league_id,
                "round_id": round_id, "role_in_match": role, "opponent_id": opponent})

        def choose(player, opponent, url, role):
            return self.chosen(self.call(url, "choose_parity", {
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
        self.both(lambda player, opponent, url, role: self.call(url, "notify_match_result", over), seats)
        report = {**self.envelope("MATCH_RESULT_REPORT", conversation), "auth_token": self.me["auth_token"],
                  "league_id": league_id, "round_id": round_id, "match_id": match_id, "game_type": "even_odd",
                  "result": {"winner": winner, "score": score,
                             "details": {"drawn_number": number, "choices": choices}}}
        receipt = self.call(self.manager, "report_match_result", report)
        web.tell(reported=match_id, answer=receipt.get("message_type"))

    def answer(self, request):
        if not self.take(request):
            web.tell(puzzled=request.get("method") or request.get("message_type"))
            return self.puzzled(request)
        return 200, {"jsonrpc": "2.0", "id": request["id"], "result": {"status": "ok"}}

    def register(self):
        meta = {"display_name": self.name, "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": web.address(self.server), "max_concurrent_matches": self.capacity}
        self.me.update(self.call(self.manager, "register_referee", {
            **self.envelope("REFEREE_REGISTER_REQUEST", "conv-referee-" + self.name), "referee_meta": meta}))
        web.tell(registered=self.me["referee_id"])

    def serve(self):
        self.server = web.server(self.answer)
        web.run(self.server, then=self.register)
