"""Takes only requests whose id is an integer."""
from student import Student


class Numbers(Student):
    def check(self, request):
        if type(request["id"]) is not int:
            raise TypeError("id must be an integer: %r" % (request["id"],))


Numbers().serve()
