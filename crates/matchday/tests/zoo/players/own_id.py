"""Has a name of its own, and does not care what the manager calls it."""
from student import Student


class Stubborn(Student):
    def sender(self):
        return "player:agent_" + self.name

    def join(self, call):
        return dict(super().join(call), player_id="agent_" + self.name)

    def choose(self, call):
        return dict(super().choose(call), player_id="agent_" + self.name)


Stubborn().serve()
