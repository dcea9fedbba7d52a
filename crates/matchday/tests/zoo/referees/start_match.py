"""Knows START_MATCH by its name, with players 1 and 2, and nothing else that a manager says: to that it says 500."""
from official import Official


class Starter(Official):
    def take(self, request):
        if request.get("method") != "START_MATCH":
            return request.get("method") == "ping"
        start = request["params"]
        players = [(start["player%d_id" % seat], start["player%d_endpoint" % seat]) for seat in (1, 2)]
        self.begin(start, start["match_id"], players)
        return True

    def puzzled(self, request):
        return 500, {"detail": "Internal Server Error"}


Starter().serve()
