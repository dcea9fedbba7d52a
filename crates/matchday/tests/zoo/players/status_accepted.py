"""Accepts an invitation as its registration was accepted, and wraps its answers once more."""
from student import Student


class Accepting(Student):
    def join(self, call):
        return {"status": "ACCEPTED"}

    def result(self, request, result):
        return super().result(request, {"response": result})


Accepting().serve()
