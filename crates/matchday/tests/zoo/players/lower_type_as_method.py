"""The method is the message type in lower case, and every route that is not there is a 404."""
import time
import uuid

import web

MANAGER, NAME = web.arguments()


class Agent:
    player_id = token = None

    def base(self, kind, conversation_id):
        return {"protocol": "league.v2", "message_type": kind, "sender": f"player:{self.player_id or NAME}",
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
                "conversation_id": conversation_id}

    def game_invitation(self, params):
        reply = self.base("GAME_JOIN_ACK", params["conversation_id"])
        reply.update(auth_token=self.token, match_id=params["match_id"], player_id=self.player_id,
                     arrival_timestamp=reply["timestamp"], accept=True)
        return reply

    def choose_parity_call(self, params):
        reply = self.base("CHOOSE_PARITY_RESPONSE", params["conversation_id"])
        reply.update(auth_token=self.token, match_id=params["match_id"], player_id=self.player_id,
                     parity_choice="even" if params["round_id"] % 2 else "odd")
        return reply

    def noted(self, params):
        return None

    round_announcement = round_completed = league_completed = noted
    league_standings_update = game_over = game_error = noted

    def answer(self, request):
        handler = getattr(self, request["method"], None)
        if handler is None:
            if request["method"] != "ping":
                web.tell(unknown=request["method"])
            return 404, {"detail": "Not Found"}
        return 200, {"jsonrpc": "2.0", "id": request["id"], "result": handler(request["params"])}

    def register(self):
        params = self.base("LEAGUE_REGISTER_REQUEST", str(uuid.uuid4()))
        params["player_meta"] = {"display_name": NAME, "version": "0.9.1", "game_types": ["even_odd"],
                                 "contact_endpoint": web.address(server)}
        answer = web.post(MANAGER, {"jsonrpc": "2.0", "id": 1, "method": "league_register_request", "params": params})
        self.player_id, self.token = answer["result"]["player_id"], answer["result"]["auth_token"]
        web.tell(registered=self.player_id)


agent = Agent()
server = web.server(agent.answer)
web.run(server, then=agent.register)
