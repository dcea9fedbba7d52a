"""What every agent needs: JSON-RPC 2.0 on POST /mcp, and messages as the author has read them in one of three editions.

careful  envelope, tokens, and the methods that the system flow names
002      the protocol contracts to the letter: the envelope, no token but in a query
001      the JSON structures to the letter: an envelope only where one is printed
"""
import itertools
import json
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

METHODS = {
    "REFEREE_REGISTER_REQUEST": "register_referee",
    "LEAGUE_REGISTER_REQUEST": "register_player",
    "ROUND_ANNOUNCEMENT": "notify_round",
    "GAME_INVITATION": "handle_game_invitation",
    "CHOOSE_PARITY_CALL": "choose_parity",
    "GAME_OVER": "notify_match_result",
    "GAME_ERROR": "notify_game_error",
    "MATCH_RESULT_REPORT": "report_match_result",
    "LEAGUE_STANDINGS_UPDATE": "update_standings",
    "ROUND_COMPLETED": "notify_round_completed",
    "LEAGUE_COMPLETED": "notify_league_completed",
    "LEAGUE_QUERY": "league_query",
    "START_LEAGUE": "start_league",
}
TIMEOUTS = {"GAME_INVITATION": 5, "GAME_OVER": 5, "CHOOSE_PARITY_CALL": 30}

ENVELOPE = {"protocol", "message_type", "sender", "timestamp", "conversation_id"}
PRINTED_WITH_ENVELOPE = {"ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_QUERY", "LEAGUE_QUERY_RESPONSE", "LEAGUE_ERROR",
                         "GAME_ERROR"}
# What the message catalogue prints beside the envelope; who forbids unknown keys allows these and no others.
META = {"display_name", "version", "game_types", "contact_endpoint"}
KEYS = {
    "REFEREE_REGISTER_REQUEST": {"referee_meta": META | {"max_concurrent_matches"}},
    "LEAGUE_REGISTER_REQUEST": {"player_meta": META},
    "ROUND_ANNOUNCEMENT": {"league_id": None, "round_id": None, "matches": None},
    "GAME_INVITATION": dict.fromkeys(("league_id", "round_id", "match_id", "game_type", "role_in_match", "opponent_id")),
    "CHOOSE_PARITY_CALL": {"match_id": None, "player_id": None, "game_type": None, "deadline": None,
                           "context": {"opponent_id", "round_id", "your_standings"}},
    "GAME_OVER": {"match_id": None, "game_type": None, "game_result": {
        "status", "winner_player_id", "drawn_number", "number_parity", "choices", "reason"}},
    "MATCH_RESULT_REPORT": {"league_id": None, "round_id": None, "match_id": None, "game_type": None,
                            "result": {"winner", "score", "details"}},
    "LEAGUE_STANDINGS_UPDATE": {"league_id": None, "round_id": None, "standings": None},
    "ROUND_COMPLETED": dict.fromkeys(("league_id", "round_id", "matches_completed", "next_round_id", "summary")),
    "LEAGUE_COMPLETED": dict.fromkeys(("league_id", "total_rounds", "total_matches", "champion", "final_standings")),
    "LEAGUE_QUERY": dict.fromkeys(("league_id", "query_type", "query_params")),
}


def now(ahead=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))


def tell(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")  # in one piece, since threads tell at once
    sys.stdout.flush()


class NotUnderstood(Exception):
    """A JSON-RPC error: its code, and what is wrong."""


class Agent:
    kind = None
    token = None

    def __init__(self, edition, habits, number, port):
        self.edition, self.habits, self.number = edition, habits, number
        self.endpoint = "http://localhost:%d/mcp" % port
        self.port = port
        self.ids = itertools.count(1)
        self.handlers = {}

    def sender(self):
        raise NotImplementedError

    def message(self, kind, conversation, **fields):
        message = {"message_type": kind}
        if self.edition != "001" or kind in PRINTED_WITH_ENVELOPE:
            message.update(protocol="league.v2", sender=self.sender(), timestamp=now(), conversation_id=conversation)
        if self.edition == "careful" and self.token:
            message["auth_token"] = self.token
        message.update(fields)
        return message

    def call(self, url, message):
        kind = message["message_type"]
        method = METHODS[kind] if self.edition == "careful" else kind
        body = {"jsonrpc": "2.0", "method": method, "params": message, "id": next(self.ids)}
        request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUTS.get(kind, 10)) as response:
            answer = json.load(response)
        if "error" in answer:
            tell(refused=answer["error"], sent=kind)
            raise RuntimeError(answer["error"])
        result = answer["result"]
        if isinstance(result, dict) and result.get("message_type") == "LEAGUE_ERROR":
            tell(refused=result, sent=kind)
        return result

    def handle(self, request):
        if "beginner" in self.habits:
            params = request["params"]
            return self.handlers[params["message_type"]](params)
        params = request.get("params")
        if not isinstance(params, dict) or "message_type" not in params:
            raise NotUnderstood(-32601, "Method not found")
        kind = params["message_type"]
        if kind not in self.handlers or (self.edition == "careful" and request.get("method") != METHODS[kind]):
            raise NotUnderstood(-32601, "Method not found")
        if "forbids" in self.habits:
            forbid_unknown_keys(kind, params)
        return self.handlers[kind](params)

    def respond(self, request):
        response = {"jsonrpc": "2.0", "id": request.get("id")}
        try:
            response["result"] = self.handle(request)
        except NotUnderstood as error:
            code, what = error.args
            tell(puzzled=what, method=request.get("method"))
            response["error"] = {"code": code, "message": what}
        return response

    def acknowledge(self, message):
        return {"status": "ok"}

    def listen(self):
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(agent.respond(request)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        serial = "single_threaded" in self.habits
        server = (HTTPServer if serial else ThreadingHTTPServer)(("localhost", self.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()


def forbid_unknown_keys(kind, message):
    allowed = KEYS[kind]
    unknown = [key for key in message if key not in allowed and key not in ENVELOPE and key != "auth_token"]
    for name, inner in allowed.items():
        if inner and isinstance(message.get(name), dict):
            unknown += ["%s.%s" % (name, key) for key in message[name] if key not in inner]
    if unknown:
        raise NotUnderstood(-32602, "Extra inputs are not permitted: " + ", ".join(unknown))
