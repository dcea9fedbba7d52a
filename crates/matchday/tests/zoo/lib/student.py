"""A player as the protocol's description has it, in the standard dialect: the habits of the zoo are told as departures
from it."""
import random
import threading
import time
import uuid

import web


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Student:
    def __init__(self):
        self.manager, self.name = web.arguments()
        self.player_id = None
        self.token = None
        self.registered = threading.Event()

    # What others may do otherwise.

    def stamp(self):
        return now()

    def sender(self):
        return "player:" + (self.player_id or self.name)

    def envelope(self, kind, conversation):
        return {
            "protocol": "league.v2",
            "message_type": kind,
            "sender": self.sender(),
            "timestamp": self.stamp(),
            "conversation_id": conversation,
        }

    def credentials(self):
        return {"auth_token": self.token}

    def join(self, call):
        return {"player_id": self.player_id, "arrival_timestamp": self.stamp(), "accept": True}

    def choose(self, call):
        return {"player_id": self.player_id, "parity_choice": random.choice(["even", "odd"])}

    def result(self, request, result):
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def check(self, request):
        """Raises where a request is not as this player wants it."""

    def notice(self, method, message):
        return {"status": "ok"}

    # What all do alike.

    def answer(self, request):
        self.check(request)
        method, message = request["method"], request.get("params", {})
        self.registered.wait(5)
        if method == "handle_game_invitation":
            body = self.join(message)
            kind = "GAME_JOIN_ACK"
        elif method == "choose_parity":
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
        answer = web.post(self.manager, self.request("register_player", message))["result"]
        if answer.get("status") != "ACCEPTED":
            web.tell(refused=answer.get("error_code"))
            return
        self.player_id, self.token = answer["player_id"], answer["auth_token"]
        self.registered.set()
        web.tell(registered=self.player_id)

    def request(self, method, message):
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": message}

    def serve(self, **how):
        self.server = web.server(self.guarded, **how)
        web.run(self.server, then=self.register)
