"""Registers, and then has no time for any match."""
from official import Official


class Busy(Official):
    capacity = 10  # the first choice of any manager

    def take(self, request):
        return request.get("method") == "ping"

    def puzzled(self, request):
        data = {"error_code": "E008", "error_message": "no time for this"}
        error = {"code": -32000, "message": "INVALID_STATE", "data": data}
        return 200, {"jsonrpc": "2.0", "id": request.get("id"), "error": error}


Busy().serve()
