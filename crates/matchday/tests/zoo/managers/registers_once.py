"""Registers an agent, answers with something that tells it nothing, and from then on says that it is registered."""
import web
from organiser import Organiser


class Once(Organiser):
    def answer(self, body):
        web.tell(asked=body.get("method"))
        if self.players:
            error = {"code": -32000, "message": "Agent already registered"}
            return 200, {"jsonrpc": "2.0", "id": body.get("id"), "error": error}
        return super().answer(body)

    def welcome(self, kind, id_field, agent_id, ask):
        return self.message(kind, ask["conversation_id"], status="WELCOME")


Once().serve()
