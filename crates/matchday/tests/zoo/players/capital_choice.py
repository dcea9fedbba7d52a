"""Shouts its choice, which is wrong in every reading."""
from student import Student


class Loud(Student):
    def choose(self, call):
        return {"player_id": self.player_id, "parity_choice": "EVEN"}


Loud().serve()
