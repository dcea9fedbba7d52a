"""One thing at a time, and each after a while."""
import time
from http.server import HTTPServer

from student import Student


class Slow(HTTPServer):
    def get_request(self):
        time.sleep(0.05)
        return super().get_request()


Student().serve(kind=Slow)
