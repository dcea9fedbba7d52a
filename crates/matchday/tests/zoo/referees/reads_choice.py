"""Reads a choice under the name `choice` alone, and tells the end of a match without saying which game it was."""
from official import Official


class Chooser(Official):
    def chosen(self, answer):
        return answer["choice"]

    def game_over(self, message):
        return {key: value for key, value in message.items() if key != "game_type"}


Chooser().serve()
