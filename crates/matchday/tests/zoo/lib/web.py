"""HTTP for the agents of the zoo, and nothing of the league: listen, post, tell the process that started us, end with it."""
import json
import os
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def arguments():
    """The manager's address and our own name, as they stand on the command line."""
    return sys.argv[1], sys.argv[2]


def tell(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")  # at once, since threads may tell together
    sys.stdout.flush()


def post(url, body, timeout=10):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        text = response.read()
    return json.loads(text) if text else None


def server(answer, kind=ThreadingHTTPServer, keep_alive=False, listen=True, port=0):
    """`answer` makes a status and a body of each body that is posted."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keep_alive else "HTTP/1.0"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, reply = answer(body)
            text = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    kind.daemon_threads = True
    kind.request_queue_size = 64
    made = kind(("127.0.0.1", port), Handler, bind_and_activate=False)
    made.server_bind()
    if listen:
        made.server_activate()
    return made


def address(made):
    return "http://127.0.0.1:%d/mcp" % made.server_address[1]


def run(made, then=None):
    """Serves until our standard input is closed. `then` is what to do once the server listens."""
    threading.Thread(target=leave_with_parent, daemon=True).start()
    if then:
        threading.Thread(target=then, daemon=True).start()
    made.serve_forever(poll_interval=0.05)


def leave_with_parent():
    sys.stdin.read()
    os._exit(0)
