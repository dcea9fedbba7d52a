"""Is given matches one by one, with players a and b in lower case, and says that it cannot use anything else."""
from official import Official


class Assigned(Official):
    def take(self, request):
        if request.get("method") != "assign_match":
            return request.get("method") == "ping"
        given = request["params"]
        players = [(given["player_%s_id" % seat], given["player_%s_endpoint" % seat]) for seat in "ab"]
        self.begin(given, given["match_id"], players)
        return True

    def puzzled(self, request):
        error = {"code": -32602, "message": "Invalid params"}
        return 200, {"jsonrpc": "2.0", "id": request.get("id"), "error": error}


Assigned().serve()
