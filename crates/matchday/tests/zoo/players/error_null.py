"""Puts "error": null beside every result."""
from student import Student


class ErrorNull(Student):
    def result(self, request, result):
        return {"jsonrpc": "2.0", "id": request["id"], "result": result, "error": None}


ErrorNull().serve()
