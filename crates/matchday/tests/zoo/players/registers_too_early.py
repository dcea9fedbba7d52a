"""Registers, takes its time, and only then begins to listen."""
import time

import web
from student import Student


class Early(Student):
    def serve(self):
        self.server = web.server(self.guarded, listen=False)
        self.register()
        time.sleep(0.5)
        self.server.server_activate()
        web.tell(listening=True)
        web.run(self.server)


Early().serve()
