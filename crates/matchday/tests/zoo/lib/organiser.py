"""A manager in the standard dialect that hands matches to its referee one by one: the habits of the zoo are told as
departures from it. Starts when one referee and WANTED players are there."""
import threading
import time

import web

PLAYER, REFEREE = "LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"


class Organiser:
    sender = "league_manager"

    def __init__(self):
        self.wanted = int(web.arguments()[0])
        self.players, self.referees, self.results = {}, {}, {}
        self.ready = threading.Event()

    # What others may do otherwise.

    def read(self, body):
        """The message in a request, or None where it understands none."""
        return body.get("params")

    def written(self, method, message):
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": message}

    def reply(self, body, message):
        return {"jsonrpc": "2.0", "id": body.get("id"), "result": message}

    def puzzled(self, body):
        error = {"code": -32601, "message": "Method not found"}
        return 200, {"jsonrpc": "2.0", "id": body.get("id"), "error": error}

    def welcome(self, kind, id_field, agent_id, ask):
        return self.message(kind, ask["conversation_id"], status="ACCEPTED", auth_token="secret-" + agent_id,
                            league_id="organised", **{id_field: agent_id})

    # What all do alike.

    def message(self, kind, conversation, **fields):
        return {"protocol": "league.v2", "message_type": kind, "sender": self.sender, "conversation_id": conversation,
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **fields}

    def answer(self, body):
        ask = self.read(body)
        if ask is None:
            web.tell(puzzled=body.get("method") or body.get("message_type"))
            return self.puzzled(body)
        return 200, self.reply(body, self.handle(ask))

    def handle(self, ask):
        kind = ask["message_type"]
        if kind == PLAYER:
            return self.enter(self.players, "player", ask)
        if kind == REFEREE:
            return self.enter(self.referees, "referee", ask)
        assert kind == "MATCH_RESULT_REPORT" and ask["auth_token"] == "secret-referee_1", ask
        self.results[ask["match_id"]] = ask["result"]
        return {"status": "ok"}

    def enter(self, members, role, ask):
        agent_id = "%s_%d" % (role, len(members) + 1)
        members[agent_id] = ask[role + "_meta"]["contact_endpoint"]
        web.tell(registered=agent_id)
        if len(self.players) == self.wanted and self.referees:
            self.ready.set()
        kind = ("LEAGUE" if role == "player" else "REFEREE") + "_REGISTER_RESPONSE"
        return self.welcome(kind, role + "_id", agent_id, ask)

    def say(self, url, method, message):
        answer = web.post(url, self.written(method, message))
        if "error" in answer or "error_code" in answer:
            web.tell(refused=answer, message=message["message_type"])

    def manage(self):
        self.ready.wait()
        (referee,), ids = self.referees.values(), list(self.players)
        pairs = [(one, other) for number, one in enumerate(ids) for other in ids[number + 1:]]
        for number, (one, other) in enumerate(pairs, 1):
            match_id = "match-%d" % number
            self.say(referee, "assign_match", self.message(
                "MATCH_ASSIGNMENT", "conv-" + match_id, match_id=match_id, player_a_id=one, player_b_id=other,
                player_a_endpoint=self.players[one], player_b_endpoint=self.players[other]))
            while match_id not in self.results:
                time.sleep(0.02)
            self.tell_standings()
        web.tell(results=self.results)

    def tell_standings(self):
        """Without anything that could be left out."""
        points = {player: sum(result["score"].get(player, 0) for result in self.results.values())
                  for player in self.players}
        ranked = sorted(points, key=lambda player: -points[player])
        rows = [{"player_id": player, "points": points[player]} for player in ranked]
        for url in self.players.values():
            self.say(url, "update_standings", self.message("LEAGUE_STANDINGS_UPDATE", "conv-table", standings=rows))

    def serve(self):
        server = web.server(self.answer)
        web.tell(listening=web.address(server))
        web.run(server, then=self.manage)
