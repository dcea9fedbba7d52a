"""Calls its choice `choice`."""
from student import Student


class Choice(Student):
    def choose(self, call):
        return {"player_id": self.player_id, "choice": "odd"}


Choice().serve()
