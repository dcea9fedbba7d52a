"""Takes only times written as in the example: whole seconds and a Z."""
import re

from student import Student

TIMES = {"timestamp", "deadline", "starts_at", "next_retry_at", "arrival_timestamp"}
EXACT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Exact(Student):
    def check(self, request):
        self.look(request)

    def look(self, value):
        if isinstance(value, list):
            for item in value:
                self.look(item)
        if isinstance(value, dict):
            for key, item in value.items():
                if key in TIMES and not EXACT.fullmatch(item):
                    raise ValueError("%s: %r" % (key, item))
                self.look(item)


Exact().serve()
