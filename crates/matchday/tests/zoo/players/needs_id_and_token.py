"""Reads `id` and `auth_token` of everything that it is sent."""
from student import Student


class Demanding(Student):
    def check(self, request):
        request["id"]
        if request["method"] != "ping":
            assert request["params"]["auth_token"].startswith("tok_")
            assert request["params"]["conversation_id"]


Demanding().serve()
