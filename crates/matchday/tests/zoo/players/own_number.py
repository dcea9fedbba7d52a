"""Has given itself a number of the kind that managers give."""
from student import Student


class Numbered(Student):
    def sender(self):
        return "player:P77"

    def join(self, call):
        return dict(super().join(call), player_id="P77")

    def choose(self, call):
        return dict(super().choose(call), player_id="P77")


Numbered().serve()
