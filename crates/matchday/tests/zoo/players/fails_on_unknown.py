"""Knows the messages of a match and no others: to those it says 500."""
from student import Student


class Brittle(Student):
    def answer(self, request):
        if request.get("method") not in ("handle_game_invitation", "choose_parity", "notify_match_result"):
            return 500, {"detail": "Internal Server Error"}
        return super().answer(request)


Brittle().serve()
