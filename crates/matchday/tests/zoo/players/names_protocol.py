"""Gives the protocol's name for its version, and has no version of its own."""
from student import Student


class Unversioned(Student):
    def request(self, method, message):
        del message["player_meta"]["version"]
        message["player_meta"]["protocol_version"] = "league.v2"
        return super().request(method, message)


Unversioned().serve()
