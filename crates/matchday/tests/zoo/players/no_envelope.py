"""Says only what it has to say: no protocol, sender, timestamp or conversation_id, ever."""
from student import Student


class Plain(Student):
    def envelope(self, kind, conversation):
        return {"message_type": kind}


Plain().serve()
