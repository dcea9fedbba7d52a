"""Dials out: for an agent that nobody can call, behind NAT or a firewall. The league's relay keeps its calls in a mailbox; it
fetches them, and posts its answers. The wire format is in docs/protocol-relay.md of Matchday."""

import json
import random
import secrets
import sys
import threading
import time
import urllib.error
import urllib.request

POLL_SECONDS = 35  # the relay answers after 25 at the latest
PAUSE_MAX = 1.6


class Mailbox:
    def __init__(self, manager):
        """Opens a mailbox at the league of this manager; a join code may be in its URL."""
        base, _, code = manager[: -len("/mcp")].partition("/join/")
        status, opened = request(f"{base}/relay", code, b"")
        if status != 201:
            raise OSError(f"HTTP {status} from {base}/relay: {opened.decode(errors='replace')}")
        opened = json.loads(opened)
        self.endpoint, self.token = opened["contact_endpoint"], opened["relay_token"]
        self.url = f"{base}/relay/{opened['mailbox']}"
        self.client, self.seen = secrets.token_hex(8), 0

    def serve(self, answer):
        """Has `answer`, which takes and returns bytes and a status, answer every call. Returns why it cannot go on."""
        pause = 0.1
        while True:
            try:
                status, lines = request(f"{self.url}/next?client={self.client}&after={self.seen}", self.token)
                if status in (401, 404, 409):
                    return f"HTTP {status}: {lines.decode(errors='replace')}"
                for line in lines.splitlines() if status == 200 else []:
                    call = json.loads(line)
                    if call.get("closed") == "taken_over":
                        return "another client has taken over this mailbox"
                    if call.get("id", 0) > self.seen:
                        self.seen = call["id"]
                        threading.Thread(target=self.reply, args=(call, answer), daemon=True).start()
                if status == 200:
                    pause = 0.1
                    continue
            except (OSError, ValueError) as error:
                print(f"no connection to the league ({error}): trying again", file=sys.stderr, flush=True)
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 2, PAUSE_MAX)

    def reply(self, call, answer):
        until = time.monotonic() + call["left_ms"] / 1000
        status, body = answer(call["body"].encode())
        while time.monotonic() < until:
            try:
                request(f"{self.url}/answers/{call['id']}?status={status}", self.token, body)
                return
            except OSError:
                time.sleep(0.1)


def request(url, token, body=None):
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=POLL_SECONDS) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
