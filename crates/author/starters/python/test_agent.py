"""python3 -m unittest"""

import json
import os
import tempfile
import threading
import unittest
import urllib.request

import agent
import board
import tokens

TOKEN = "tok_p01_" + "0" * 64
LEAGUE = "league_2025_even_odd"
REFEREE = "tok_r1m1_8aa0bf04930f5811e822092823e6f4c08f95eb5e2e20c20d894716ec522318cc"
PLAYER = "tok_r1m1_3845220ebebd1549dff420b3de925f10e9b44815a7dca78497e6672bf2103ee6"
LOGGED = []
agent.log = LOGGED.append  # What a passing test logs is no news.
MANAGER = "tok_league_manager_bb02e302b7ffb96a2121afeef2f45c0bbb8ecee015d4a5d1c4e50942a0f34128"


def player(choose=lambda turn: "odd"):
    new = agent.Agent(choose)
    new.registered({"player_id": "P01", "auth_token": TOKEN, "league_id": LEAGUE, "match_tokens": True})
    return new


def message(message_type, **fields):
    return {
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": "referee:REF01",
        "timestamp": "2026-03-02T09:01:00Z",
        "conversation_id": "conv-r1m1-001",
        "auth_token": REFEREE,
        "match_id": "R1M1",
        **fields,
    }


def ask(one, params, id_=7):
    request = {"jsonrpc": "2.0", "id": id_, "method": "anything", "params": params}
    return one.answer(json.dumps(request).encode())["result"]


class Matches(unittest.TestCase):
    def test_joins_when_invited(self):
        answer = ask(player(), message("GAME_INVITATION", game_type=agent.GAME, opponent_id="P02"))
        self.assertEqual(answer["message_type"], "GAME_JOIN_ACK")
        self.assertIs(answer["accept"], True)
        self.assertEqual((answer["sender"], answer["player_id"], answer["match_id"]), ("player:P01", "P01", "R1M1"))
        self.assertEqual((answer["conversation_id"], answer["auth_token"]), ("conv-r1m1-001", PLAYER))
        self.assertRegex(answer["arrival_timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_gives_what_the_strategy_chose_and_the_same_again(self):
        choices = iter(["odd", "even"])
        one = player(lambda turn: next(choices))
        first, second = (ask(one, message("CHOOSE_PARITY_CALL")) for _ in range(2))
        self.assertEqual((first["message_type"], first["parity_choice"]), ("CHOOSE_PARITY_RESPONSE", "odd"))
        self.assertEqual((second["parity_choice"], second["nonce"]), ("odd", first["nonce"]))

    def test_chooses_by_chance_if_the_strategy_fails(self):
        for broken, why in ((lambda turn: "Even", "returned 'Even'"), (lambda turn: 1 / 0, "raised ZeroDivisionError")):
            answer = ask(player(broken), message("CHOOSE_PARITY_CALL"))
            self.assertIn(answer["parity_choice"], ("even", "odd"))
            self.assertIn(why, LOGGED[-1])

    def test_makes_a_move_of_any_game_and_the_same_again(self):
        one = player(lambda turn: turn.options[len(board.rows(turn.context)) - 3])

        def move(context):
            request = {"move_type": "place", "valid_options": [0, {"to": 4}], "context": context}
            return ask(one, message("GAME_MOVE_CALL", move_request=request))

        flat, rows = ["X"] + [None] * 8, ["..", "xo", "..", ".."]
        grid = {"kind": "grid", "columns": 1, "cells": ["a", "", "b"]}
        for context, choice in (({"board": flat}, 0), ({"board": rows}, {"to": 4}), ({"view": grid}, 0)):
            for _ in range(2):
                answer = move(context)
                self.assertEqual((answer["message_type"], answer["game_type"]), ("GAME_MOVE_RESPONSE", agent.GAME))
                self.assertEqual(answer["move_data"], {"move_type": "place", "choice": choice})
        self.assertEqual(board.show(board.rows({"board": rows})), ". .\nx o\n. .\n. .")
        wrong = ask(one, message("GAME_MOVE_CALL", move_request={"move_type": "place"}))
        self.assertEqual(wrong["error_code"], "E003")

    def test_tells_the_strategy_how_earlier_matches_ended(self):
        seen = []
        one = player(lambda turn: seen.append(turn) or "even")
        result = {"status": "WIN", "choices": {"P01": "odd", "P02": "even"}, "drawn_number": 4, "reason": "4 is even"}
        ask(one, message("GAME_OVER", game_result=result))
        ask(one, message("CHOOSE_PARITY_CALL", context={"opponent_id": "P02", "round_id": 2}))
        self.assertEqual((seen[0].opponent_id, seen[0].round_id), ("P02", 2))
        past = seen[0].history[0]
        self.assertEqual((past.match_id, past.mine, past.theirs, past.number), ("R1M1", "odd", "even", 4))


class Seasons(unittest.TestCase):
    """The next league has the same token, another id, and matches of the same names."""

    def test_plays_the_next_league_of_a_season_without_registering_again(self):
        choices = iter(["odd", "even"])
        one = player(lambda turn: next(choices))
        first = ask(one, message("CHOOSE_PARITY_CALL", league_id=LEAGUE))
        token = tokens.match_token(TOKEN, "night_2", "R1M1", "conv-r1m1-001", "referee-to-player")
        second = ask(one, message("CHOOSE_PARITY_CALL", league_id="night_2", auth_token=token))
        self.assertEqual((first["parity_choice"], second["parity_choice"]), ("odd", "even"))
        self.assertNotEqual(first["nonce"], second["nonce"])
        answer = tokens.match_token(TOKEN, "night_2", "R1M1", "conv-r1m1-001", "player-to-referee")
        self.assertEqual(second["auth_token"], answer)
        self.assertEqual(ask(one, message("CHOOSE_PARITY_CALL", league_id="night_2"))["error_code"], "E012")

    def test_keeps_the_token_of_each_place(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "agent.json")
            agent.keep_token(store, "http://a/join/code/mcp", "tok_1")
            agent.keep_token(store, "http://b/mcp as Bob", "tok_2")
            self.assertEqual(agent.stored_tokens(store)["http://a/join/code/mcp"], "tok_1")
            self.assertEqual(agent.stored_tokens(os.path.join(folder, "none")), {})


class Trust(unittest.TestCase):
    def test_computes_the_tokens_of_the_protocol(self):
        self.assertEqual(tokens.notice_token(TOKEN, LEAGUE), MANAGER)
        for direction, token in (("referee-to-player", REFEREE), ("player-to-referee", PLAYER)):
            self.assertEqual(tokens.match_token(TOKEN, LEAGUE, "R1M1", "conv-r1m1-001", direction), token)

    def test_refuses_who_cannot_prove_who_it_is(self):
        refused = {
            "E011": message("CHOOSE_PARITY_CALL", auth_token=None),
            "E012": message("CHOOSE_PARITY_CALL", auth_token=PLAYER),
            "E003": message("CHOOSE_PARITY_CALL", match_id=None),
        }
        for code, asked in refused.items():
            answer = ask(player(), asked)
            self.assertEqual((answer["message_type"], answer["error_code"]), ("LEAGUE_ERROR", code))
        self.assertEqual(ask(player(), message("GAME_INVITATION", sender="player:P02"))["error_code"], "E012")
        self.assertEqual(ask(player(), message("LEAGUE_COMPLETED"))["error_code"], "E012")
        self.assertEqual(ask(player(), message("LEAGUE_COMPLETED", auth_token=MANAGER)), {"status": "received"})


class JsonRpc(unittest.TestCase):
    def test_says_what_is_wrong_with_a_request(self):
        wrong = {
            b"{": (None, -32700),
            b"[]": (None, -32600),
            b'{"jsonrpc": "2.0", "id": 1}': (1, -32600),
            b'{"jsonrpc": "2.0", "id": "a", "method": "dance"}': ("a", -32601),
            b'{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": [1]}': (2, -32602),
        }
        for body, (id_, code) in wrong.items():
            answer = player().answer(body)
            self.assertEqual((answer["id"], answer["error"]["code"]), (id_, code), body)

    def test_answers_batches_and_no_notifications(self):
        ping = {"jsonrpc": "2.0", "method": "ping"}
        self.assertIsNone(player().answer(json.dumps(ping).encode()))
        answer = player().answer(json.dumps([{**ping, "id": 1}, ping, {**ping, "id": "b"}]).encode())
        self.assertEqual([one["id"] for one in answer], [1, "b"])

    def test_listens_on_mcp(self):
        server = agent.Server(("127.0.0.1", 0), player())
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=10) as response:
            self.assertEqual(response.headers["Content-Type"], "application/json")
            self.assertEqual(json.load(response), {"jsonrpc": "2.0", "id": 1, "result": {"status": "ok"}})
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    unittest.main()
