"""Exits as soon as it receives the end of the league, without an answer."""
import os

import web
from student import Student


class Leaver(Student):
    def notice(self, method, message):
        if method == "notify_league_completed":
            web.tell(left=True)
            os._exit(0)
        return super().notice(method, message)


Leaver().serve()
