"""A player of league.v2: registers with a manager, and answers referees on POST /mcp.

Needs Python 3.9 and nothing else. What you will want to change is in strategy.py.
"""

import argparse
import json
import os
import queue
import secrets
import signal
import sys
import threading
import time
import traceback
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dial
import strategy
import tokens

NAME = "{{NAME}}"
VERSION = "1.0.0"
GAME = "even_odd"
# A referee waits 30 s for a choice. What the network and a busy machine need comes off that.
THINKING_SECONDS = 10
RETRY_SECONDS = 2
BODY_BYTES_MAX = 1024 * 1024

FROM_REFEREE = {"GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "GAME_OVER", "GAME_ERROR"}
FROM_MANAGER = {"ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_ERROR"}
RECEIVED = {"status": "received"}
PARITY = "choose_parity"


def log(words):
    print(words, file=sys.stderr, flush=True)


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Refusal(Exception):
    """A league message that is not answered, with the league's code for the reason."""

    def __init__(self, code, name, words):
        super().__init__(words)
        self.code, self.name = code, name


class RpcError(Exception):
    """A request that JSON-RPC itself does not allow."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


class Match:
    """What must not be forgotten about a match."""

    def __init__(self):
        self.lock = threading.Lock()
        self.opponent_id = ""
        self.choices = {}  # by what was asked
        # The player's share in the draw: nobody knows the number before it is sent.
        self.nonce = secrets.token_hex(16)


class Agent:
    """What the player knows, and what it says. Touches no network."""

    def __init__(self, choose=strategy.choose, games=(GAME,)):
        self.choose, self.games = choose, games
        self.lock = threading.Lock()
        self.player_id = self.token = self.league_id = None
        self.match_tokens = False  # whether manager and referees prove who they are
        # A season has a league each night, and the first match of each is R1M1: a match is known by its league, too.
        self.without_token = set()  # matches whose referee cannot
        self.matches = {}
        self.history = {}

    def registered(self, response):
        """Keeps what LEAGUE_REGISTER_RESPONSE says."""
        with self.lock:
            self.player_id, self.token = response["player_id"], response["auth_token"]
            self.league_id = response.get("league_id") or ""
            self.match_tokens = response.get("match_tokens") is True

    # JSON-RPC

    def answer(self, body):
        """The response to a request body; None if there is nothing to say."""
        try:
            request = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            return failure(None, -32700, f"Parse error: {error}")
        if isinstance(request, list) and request:
            responses = [self.answer_one(one) for one in request]
            return [response for response in responses if response is not None] or None
        return self.answer_one(request)

    def answer_one(self, request):
        if not isinstance(request, dict):
            return failure(None, -32600, "Invalid Request: expected an object")
        id_ = request.get("id")
        if isinstance(id_, bool) or not isinstance(id_, (str, int, float, type(None))):
            return failure(None, -32600, "Invalid Request: id must be a number, a text or null")
        if request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
            return failure(id_, -32600, 'Invalid Request: expected "jsonrpc": "2.0" and a method')
        try:
            response = {"jsonrpc": "2.0", "id": id_, "result": self.call(request["method"], request.get("params", {}))}
        except RpcError as error:
            response = failure(id_, error.code, str(error))
        except Exception:
            log(traceback.format_exc())
            response = failure(id_, -32603, "Internal error")
        return response if "id" in request else None

    def call(self, method, params):
        if not isinstance(params, dict):
            raise RpcError(-32602, "Invalid params: expected an object")
        if "message_type" in params:
            return self.receive(params)
        if method == "ping":
            return {"status": "ok"}
        raise RpcError(-32601, f"Method not found: {method}, and no league message came with it")

    # League messages

    def receive(self, message):
        try:
            if message.get("protocol") != "league.v2":
                raise Refusal("E018", "PROTOCOL_VERSION_MISMATCH", "protocol: expected league.v2")
            kind = text(message, "message_type")
            if kind in FROM_REFEREE:
                self.trust_referee(message)
            elif kind in FROM_MANAGER:
                self.trust_manager(message)
            answers = {
                "GAME_INVITATION": self.join,
                "CHOOSE_PARITY_CALL": self.choose_parity,
                "GAME_MOVE_CALL": self.choose_move,
                "GAME_OVER": self.learn,
                "ROUND_ANNOUNCEMENT": self.prepare,
            }
            if kind in ("GAME_ERROR", "LEAGUE_ERROR"):
                log(f"{kind} {message.get('error_code')}: {message.get('error_message')}")
            return answers[kind](message) if kind in answers else RECEIVED
        except Refusal as refusal:
            return self.refuse(message, refusal)

    def join(self, invitation):
        self.match(self.key(invitation)).opponent_id = str(invitation.get("opponent_id") or "")
        accept = invitation.get("game_type") in self.games
        return self.reply(invitation, "GAME_JOIN_ACK", arrival_timestamp=now(), accept=accept)

    def choose_parity(self, call):
        parity, nonce = self.choice(call, PARITY, ["even", "odd"], call.get("context"))
        return self.reply(call, "CHOOSE_PARITY_RESPONSE", parity_choice=parity, nonce=nonce)

    def choose_move(self, call):
        """A turn of any game: one of the legal moves. A referee may ask for even or odd in this way, too."""
        asked = call.get("move_request")
        options = asked.get("valid_options") if isinstance(asked, dict) else None
        if not isinstance(options, list) or not options:
            raise Refusal("E003", "MISSING_REQUIRED_FIELD", "move_request.valid_options: expected the legal moves")
        kind = asked.get("move_type")
        question = PARITY if kind == PARITY else json.dumps([options, asked.get("context")], sort_keys=True)
        choice, nonce = self.choice(call, question, options, asked.get("context"))
        move = {"move_type": kind, "choice": choice}
        game_type = call.get("game_type") or self.games[0]
        return self.reply(call, "GAME_MOVE_RESPONSE", game_type=game_type, move_data=move, nonce=nonce)

    def learn(self, over):
        key, match_id, result = self.key(over), text(over, "match_id"), over.get("game_result")
        if isinstance(result, dict):
            choices = result.get("choices")
            choices = choices if isinstance(choices, dict) else {}
            opponent_id = next((id_ for id_ in choices if id_ != self.player_id), self.match(key).opponent_id)
            mine, theirs = choices.get(self.player_id), choices.get(opponent_id)
            past = strategy.Past(match_id, opponent_id, mine, theirs, result.get("drawn_number"))
            with self.lock:
                self.history.setdefault(key, past)
            log(f"{match_id} is over: {over.get('reason') or result.get('reason')}")
        return RECEIVED

    def prepare(self, announcement):
        with self.lock:
            for match in announcement.get("matches") or []:
                if isinstance(match, dict) and match.get("match_tokens") is False:
                    self.without_token.add((self.league(announcement), match.get("match_id")))
        return RECEIVED

    # The choice

    def league(self, message):
        """The league that a message is about. Who does not say it means the one that spoke last."""
        return str(message.get("league_id") or self.league_id)

    def key(self, message):
        return self.league(message), text(message, "match_id")

    def match(self, key):
        with self.lock:
            return self.matches.setdefault(key, Match())

    def choice(self, call, question, options, context):
        """Choice and nonce, the same ones whenever the same is asked: the first answer may have been lost."""
        key, context = self.key(call), context if isinstance(context, dict) else {}
        match = self.match(key)
        with match.lock:
            if question not in match.choices:
                opponent_id = context.get("opponent_id") or match.opponent_id
                with self.lock:
                    history = list(self.history.values())
                round_id = context.get("round_id", call.get("round_id"))
                game_type = call.get("game_type") or self.games[0]
                turn = strategy.Turn(
                    text(call, "match_id"), opponent_id, round_id, history, options, context, game_type
                )
                match.choices[question] = self.decide(turn)
            return match.choices[question], match.nonce

    def decide(self, turn):
        answers = queue.Queue()

        def think():
            try:
                answers.put((self.choose(turn), None))
            except Exception as error:
                answers.put((None, f"raised {error!r}\n{traceback.format_exc()}"))

        threading.Thread(target=think, daemon=True).start()
        try:
            choice, why = answers.get(timeout=THINKING_SECONDS)
        except queue.Empty:
            choice, why = None, f"took longer than {THINKING_SECONDS} s"
        if why is None and choice in turn.options:
            return choice
        why = why or f"returned {choice!r}, which is no legal move"
        log(f"{turn.match_id}: a random move instead of the strategy's, which {why}")
        return secrets.choice(turn.options)

    # Who speaks

    def trust_referee(self, message):
        text(message, "conversation_id")
        if self.token is None:
            raise Refusal("E008", "INVALID_STATE", "this player is not registered yet")
        if not text(message, "sender").startswith("referee:"):
            raise Refusal("E012", "AUTH_TOKEN_INVALID", "only a referee may send this")
        if self.match_tokens and self.key(message) not in self.without_token:
            expect(message, self.match_token(message, "referee-to-player"))

    def trust_manager(self, message):
        if self.match_tokens:
            league_id = self.league(message)
            expect(message, tokens.notice_token(self.token, league_id))
            self.league_id = league_id

    def match_token(self, message, direction):
        league_id, match_id = self.key(message)
        return tokens.match_token(self.token, league_id, match_id, message["conversation_id"], direction)

    # What it says

    def reply(self, asked, message_type, **fields):
        token = self.match_token(asked, "player-to-referee") if self.match_tokens else self.token
        message = envelope(message_type, self.player_id, asked["conversation_id"])
        return {**message, "auth_token": token, "match_id": asked["match_id"], "player_id": self.player_id, **fields}

    def refuse(self, asked, refusal):
        log(f"refused {asked.get('message_type')} of {asked.get('sender')}: {refusal.code} {refusal}")
        conversation_id = asked.get("conversation_id")
        return {
            **envelope("LEAGUE_ERROR", self.player_id or "unregistered", conversation_id or "conv-unknown"),
            "error_code": refusal.code,
            "error_name": refusal.name,
            "error_description": refusal.name,
            "error_message": str(refusal),
            "original_message_type": str(asked.get("message_type")),
            "retryable": False,
        }


def envelope(message_type, player_id, conversation_id):
    return {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": f"player:{player_id}",
        "timestamp": now(),
        "conversation_id": conversation_id,
    }


def failure(id_, code, words):
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": words}}


def text(message, field):
    value = message.get(field)
    if value is None:
        raise Refusal("E003", "MISSING_REQUIRED_FIELD", f"{field}: expected a text, got nothing")
    if not isinstance(value, str):
        raise Refusal("E002", "INVALID_MESSAGE_FORMAT", f"{field}: expected a text")
    return value


def expect(message, token):
    shown = message.get("auth_token")
    if not shown:
        raise Refusal("E011", "AUTH_TOKEN_MISSING", "auth_token: expected the token for this message, got none")
    if not isinstance(shown, str) or not tokens.same(shown, token):
        raise Refusal("E012", "AUTH_TOKEN_INVALID", "auth_token: wrong token for this message")


# HTTP


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # for a client that says nothing more
    wbufsize = -1  # head and body of an answer in one piece
    disable_nagle_algorithm = True

    def do_POST(self):
        if self.path.partition("?")[0] != "/mcp":
            return self.send(404, failure(None, -32600, "agents listen at /mcp"))
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return self.send(411, failure(None, -32600, "a Content-Length is needed"))
        if int(length) > BODY_BYTES_MAX:
            return self.send(413, failure(None, -32600, f"at most {BODY_BYTES_MAX} bytes are read"))
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self.close_connection = True
            return
        response = self.server.agent.answer(body)
        self.send(202 if response is None else 200, response)

    def send(self, status, response):
        body = b"" if response is None else json.dumps(response).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status >= 400:  # The body was not read: the next request is not where it should be.
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, agent):
        super().__init__(address, Handler)
        self.agent = agent

    def handle_error(self, _request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):  # A connection that broke off is no news.
            log(f"while serving {client_address}: {error!r}")


# Registration


def register(agent, manager, name, endpoint, store, **meta):
    """Registers with the manager, and keeps trying while there is none. Returns the reason if the manager refuses."""
    message = envelope("LEAGUE_REGISTER_REQUEST", "unregistered", f"conv-register-{secrets.token_hex(8)}")
    message["player_meta"] = {
        "display_name": name,
        "version": VERSION,
        "game_types": list(agent.games),
        "contact_endpoint": endpoint,
        **meta,
    }
    place = manager if "/join/" in manager else f"{manager} as {name}"  # A join code says who this is.
    token = stored_tokens(store).get(place)
    if token:  # From before a restart: the manager gives the old place back.
        message["auth_token"] = token
    waiting = False
    while True:
        try:
            answer = post(manager, {"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message})
            result = answer.get("result") or answer.get("error") or {}
            if result.get("status") == "ACCEPTED":
                agent.registered(result)
                keep_token(store, place, result["auth_token"])
                return None
            why = result.get("reason") or result.get("error_message") or json.dumps(result)
            if result.get("retryable") is not True:
                return why
        except (OSError, ValueError, AttributeError, KeyError) as error:
            why = error
        if not waiting:
            log(f"no answer from {manager} yet ({why}): trying again every {RETRY_SECONDS} s")
            waiting = True
        time.sleep(RETRY_SECONDS)


def post(url, request):
    headers = {"Content-Type": "application/json"}
    posted = urllib.request.Request(url, json.dumps(request).encode(), headers)
    with urllib.request.urlopen(posted, timeout=10) as response:
        return json.loads(response.read(BODY_BYTES_MAX))


def stored_tokens(store):
    try:
        with open(store, encoding="utf-8") as file:
            stored = json.load(file)
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def keep_token(store, place, token):
    """Writes a new file in the place of the old one: a crash leaves one of them whole."""
    kept = {**stored_tokens(store), place: token}
    opened = os.open(f"{store}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(opened, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=2)
    os.replace(f"{store}.new", store)


def arguments():
    def setting(name, default):
        return os.environ.get(f"MATCHDAY_{name}", default)

    parser = argparse.ArgumentParser(description="A player of league.v2. Each option can be set as MATCHDAY_... too.")
    listen, manager = setting("LISTEN", "127.0.0.1:8101"), setting("MANAGER", "http://localhost:8000/mcp")
    parser.add_argument("--listen", metavar="HOST:PORT", default=listen, help="[default: %(default)s]")
    parser.add_argument("--manager", metavar="URL", default=manager, help="[default: %(default)s]")
    parser.add_argument("--name", default=setting("NAME", NAME), help="[default: %(default)s]")
    parser.add_argument("--advertise", metavar="URL", default=setting("ADVERTISE", None), help="where others reach it")
    dials = setting("DIAL", "off") == "on"
    parser.add_argument("--dial", action="store_true", default=dials, help="dial out to the league instead of listening")
    store = setting("STORE", "agent.json")
    parser.add_argument("--store", metavar="FILE", default=store, help="keeps tokens for a restart [default: %(default)s]")
    args = parser.parse_args()
    host, _, port = args.listen.rpartition(":")
    if not host or not port.isdigit():
        parser.error(f"--listen: expected HOST:PORT, got {args.listen}")
    return args, host, int(port)


def listen_nowhere(agent, manager):
    """Has the agent called through a mailbox at the league. Returns the endpoint of that."""
    try:
        mailbox = dial.Mailbox(manager)
    except (OSError, ValueError) as error:
        sys.exit(f"cannot dial out: {error}")

    def answer(body):
        response = agent.answer(body)
        return (202, b"") if response is None else (200, json.dumps(response).encode())

    def serve():
        log(f"cannot go on: {mailbox.serve(answer)}")
        os._exit(1)

    threading.Thread(target=serve, daemon=True).start()
    log("called through the relay of the league")
    return mailbox.endpoint


def listen(agent, args, host, port):
    """Listens, and returns the endpoint."""
    try:
        server = Server((host, port), agent)
    except OSError as error:
        sys.exit(f"cannot listen on {args.listen}: {error.strerror}")
    port = server.server_address[1]
    reachable = "localhost" if host == "0.0.0.0" else host
    # The server listens before the player registers: the manager looks whether it is there.
    threading.Thread(target=server.serve_forever, daemon=True).start()
    log(f"listening on {host}:{port}")
    return args.advertise or f"http://{reachable}:{port}/mcp"


def main():
    args, host, port = arguments()
    agent = Agent()
    meta = {"strategy": strategy.PLAYS_BY} if hasattr(strategy, "PLAYS_BY") else {}
    endpoint = listen_nowhere(agent, args.manager) if args.dial else listen(agent, args, host, port)
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        refused = register(agent, args.manager, args.name, endpoint, args.store, **meta)
        if refused:
            sys.exit(f"the manager refuses this player: {refused}")
        log(f"registered as {agent.player_id}")
        # A signal may reach another thread first, which does not wake this one: it must look by itself now and then.
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        log("stopped")


if __name__ == "__main__":
    main()
