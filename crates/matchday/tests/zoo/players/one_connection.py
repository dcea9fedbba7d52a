"""One connection at a time, which it keeps for as long as its peer does: nobody else is heard meanwhile."""
from http.server import HTTPServer

from student import Student

Student().serve(kind=HTTPServer, keep_alive=True)
