"""A player as the protocol's documents have it, in one of their editions: the habits of the zoo are told as departures
from it."""
import random
import threading
import time
import uuid

import web
from documents import forbidden, kind_of, method_of


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Student:
    """With the habit `forbids` it refuses keys that the documents do not print; with `beginner` it reads the type of a
    message at once, and breaks on anything else than what a player is sent."""

    KNOWN = {"ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_ERROR", "LEAGUE_ERROR",
             "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"}

    def __init__(self, manager=None, name=None, edition="careful", habits=(), port=0):
        self.manager, self.name = (manager, name) if manager else web.arguments()
        self.edition, self.habits, self.port = edition, habits, port
        self.player_id = None
        self.token = None
        self.registered = threading.Event()

    # What others may do otherwise.

    def stamp(self):
        return now()

    def sender(self):
        return "player:" + (self.player_id or self.name)

    def envelope(self, kind, conversation):
        if self.edition == "001":
            return {"message_type": kind}
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": self.sender(),
            "timestamp": self.stamp(),
            "conversation_id": conversation,
        }

    def credentials(self):
        return {"auth_token": self.token} if self.edition == "careful" and self.token else {}

    def join(self, call):
        return {"player_id": self.player_id, "arrival_timestamp": self.stamp(), "accept": True}

    def choose(self, call):
        return {"player_id": self.player_id, "parity_choice": random.choice(["even", "odd"])}

    def result(self, request, result):
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def check(self, request):
        """Raises where a request is not as this player wants it."""
        if "beginner" in self.habits and request["params"]["message_type"] not in self.KNOWN:
            raise ValueError("what is this?")

    def notice(self, method, message):
        if message.get("message_type") == "LEAGUE_COMPLETED":
            web.tell(over=message["champion"]["player_id"], player=self.player_id)
        return {"status": "ok"}

    # What all do alike.

    def answer(self, request):
        self.check(request)
        if "forbids" in self.habits and (refusal := forbidden(request)):
            web.tell(forbids=refusal["error"]["message"])
            return 200, refusal
        method, message = request["method"], request.get("params", {})
        asked = kind_of(self.edition, request)
        self.registered.wait(5)
        if asked == "GAME_INVITATION":
            body = self.join(message)
            kind = "GAME_JOIN_ACK"
        elif asked == "CHOOSE_PARITY_CALL":
            body = self.choose(message)
            kind = "CHOOSE_PARITY_RESPONSE"
        else:
            return 200, self.result(request, self.notice(method, message))
        reply = self.envelope(kind, message.get("conversation_id"))
        reply.update(self.credentials())
        reply["match_id"] = message.get("match_id")
        reply.update(body)
        return 200, self.result(request, reply)

    def guarded(self, request):
        try:
            return self.answer(request)
        except Exception as error:
            web.tell(complaint=repr(error), method=request.get("method"))
            raise

    def register(self):
        message = self.envelope("LEAGUE_REGISTER_REQUEST", "conv-" + uuid.uuid4().hex)
        message["player_meta"] = {
            "display_name": self.name,
            "version": "1.0.0",
            "game_types": ["even_odd"],
            "contact_endpoint": web.address(self.server),
        }
        method = method_of(self.edition, "LEAGUE_REGISTER_REQUEST")
        answer = web.post(self.manager, self.request(method, message))["result"]
        if answer.get("status") != "ACCEPTED":
            web.tell(refused=answer.get("error_code"))
            return
        self.player_id, self.token = answer["player_id"], answer.get("auth_token")
        self.registered.set()
        web.tell(registered=self.player_id)

    def request(self, method, message):
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": message}

    def listen(self, **how):
        self.server = web.server(self.guarded, port=self.port, **how)

    def serve(self, **how):
        self.listen(**how)
        web.run(self.server, then=self.register)
