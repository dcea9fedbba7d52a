"""Takes messages as they are and says 500 to anything around them; has a number; tells the least that a table can be."""
from organiser import Organiser


class Bare(Organiser):
    sender = "league_manager:LM01"

    def read(self, body):
        return body if "message_type" in body else None

    def written(self, method, message):
        return message

    def reply(self, body, message):
        return message

    def puzzled(self, body):
        return 500, {"detail": "Internal Server Error"}


Bare().serve()
