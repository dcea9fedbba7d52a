"""Knows `handle_message`, and calls the parameters of every other method invalid."""
from organiser import Organiser


class Handler(Organiser):
    def read(self, body):
        return body["params"]["message"] if body.get("method") == "handle_message" else None

    def written(self, method, message):
        return {"jsonrpc": "2.0", "id": 1, "method": "handle_message", "params": {"message": message}}

    def puzzled(self, body):
        error = {"code": -32602, "message": "Invalid params"}
        return 200, {"jsonrpc": "2.0", "id": body.get("id"), "error": error}


Handler().serve()
