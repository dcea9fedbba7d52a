"""Has never heard of tokens."""
from student import Student


class Tokenless(Student):
    def credentials(self):
        return {}


Tokenless().serve()
