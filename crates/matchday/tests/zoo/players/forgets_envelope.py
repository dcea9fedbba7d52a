"""Copied the registration from the description with all that is around it, and wrote the answers by heart."""
from student import Student


class Forgetful(Student):
    def envelope(self, kind, conversation):
        if kind == "LEAGUE_REGISTER_REQUEST":
            return super().envelope(kind, conversation)
        return {"message_type": kind}


Forgetful().serve()
