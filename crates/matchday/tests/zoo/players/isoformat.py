"""Writes times as `datetime` does, and adds the Z that it was told to add."""
import datetime

from student import Student


class Zulu(Student):
    def stamp(self):
        return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds") + "Z"


Zulu().serve()
