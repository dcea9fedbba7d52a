"""An independent verifier of draws and signatures, written from docs/protocol-tokens.md and docs/protocol-draw.md alone.

Reads the directory that `matchday export` has written, and prints one JSON object: how many matches it has checked, how
many signatures, and what does not fit. Standard library only; Ed25519 is that of RFC 8032.
"""
import hashlib
import hmac
import json
import pathlib
import struct
import sys

# Ed25519: the curve, points in extended coordinates, decoding, verification.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    i, j, k, l = f - e, h - g, h + g, f + e
    return (i * j % P, k * l % P, j * k % P, i * l % P)


def multiply(number, point):
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def decode(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def same(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


BASE = decode(int.to_bytes(4 * pow(5, P - 2, P) % P, 32, "little"))


def verifies(key, message, signature):
    point, commitment = decode(key), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if point is None or commitment is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return same(multiply(s, BASE), add(commitment, multiply(h, point)))


# The scheme.
def listed(*parts):
    return b"".join(struct.pack(">Q", len(part)) + part for part in parts)


def first_number(secret, league, match, attempt, nonces):
    limit = (2**64 - 1) - ((2**64 - 1) % 10)
    for block in range(100):
        data = listed(b"matchday-draw-2/draw", league, match, attempt, *nonces, struct.pack(">Q", block))
        for word in struct.unpack(">4Q", hmac.new(secret, data, hashlib.sha256).digest()):
            if word < limit:
                return 1 + word % 10


def check(league_id, record, keys, found):
    """One decided match: what does not fit, as a text, or None."""
    match, attempt = record["match_id"], struct.pack(">I", record["attempt"])
    league, details = league_id.encode(), record["result"]["details"]
    a, b = record["players"]
    fairness, choices = details.get("fairness"), details["choices"]
    if fairness is None:
        return None if record["result"].get("status") == "TECHNICAL_LOSS" else "no proof"
    if fairness["scheme"] != "matchday-draw-2":
        return f"the scheme is {fairness['scheme']}"
    secret = bytes.fromhex(fairness["secret"])
    commitment = hashlib.sha256(listed(b"matchday-draw-2/commitment", league, match.encode(), attempt, secret))
    if commitment.hexdigest() != fairness["commitment"]:
        return "the secret does not give the commitment"
    nonces = fairness["nonces"]
    promised = fairness.get("nonce_commitments", {})
    for player, commitment in promised.items():
        data = listed(b"matchday-draw-2/nonce", league, match.encode(), attempt, player.encode(), nonces[player].encode())
        if hashlib.sha256(data).hexdigest() != commitment:
            return f"the nonce of {player} does not give its commitment"
    signatures = fairness.get("signatures", {})
    for player, opponent in ((a, b), (b, a)):
        chosen, key = choices.get(player), keys.get(player)
        claimed = fairness.get("proof", {}).get(player)
        if key is None or chosen is None:
            if player in signatures or claimed == "signed":
                return f"{player} cannot have signed"
            continue
        message = listed(
            b"matchday-draw-2/move", league, match.encode(), attempt, player.encode(), fairness["commitment"].encode(),
            promised.get(opponent, "").encode(), nonces[player].encode(),
            json.dumps([chosen], separators=(",", ":")).encode(),
        )
        if player not in signatures or not verifies(key, message, bytes.fromhex(signatures[player])):
            return f"{player} has not signed {chosen}"
        if claimed != "signed":
            return f"{player} has signed, and the proof says {claimed}"
        found["signatures"] += 1
    if record["result"].get("status") == "TECHNICAL_LOSS":
        return None
    number = first_number(secret, league, match.encode(), attempt, [nonces[a].encode(), nonces[b].encode()])
    if number != details["drawn_number"]:
        return f"{details['drawn_number']} is told, and {number} was drawn"
    parity = "odd" if number % 2 else "even"
    right = [player for player in (a, b) if choices[player] == parity]
    winner = right[0] if len(right) == 1 else None
    if winner != record["result"]["winner"]:
        return f"{record['result']['winner']} is told as the winner, and {winner} has won"
    found["draws"] += 1
    return None


def main(folder):
    league_id, keys, found, wrong = None, {}, {"matches": 0, "draws": 0, "signatures": 0}, []
    for line in (pathlib.Path(folder) / "events.jsonl").read_text().splitlines():
        row = json.loads(line)
        event = row["event"]
        if not row["stream"].startswith("league"):
            continue
        if event["type"] == "league_created":
            league_id = event["settings"]["league_id"]
        elif event["type"] in ("player_registered", "player_rejoined"):
            key = event["meta"].get("public_key")
            keys[event["player_id"]] = bytes.fromhex(key.removeprefix("ed25519:")) if key else None
        elif event["type"] == "match_decided" and event["by"] != "manager":
            of = json.loads((pathlib.Path(folder) / "matches" / f"{event['match_id']}.json").read_text())
            players = (of["player_a"], of["player_b"])
            record = {"match_id": event["match_id"], "attempt": event["attempt"], "players": players, "result": event["result"]}
            problem = check(league_id, record, keys, found)
            found["matches"] += 1
            if problem:
                wrong.append(f"{event['match_id']}: {problem}")
    print(json.dumps({**found, "wrong": wrong}))


main(sys.argv[1])
