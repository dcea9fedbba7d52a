"""The tokens by which the player knows its manager and its referees.

Both follow from the token that the manager gave the player, which therefore never has to be shown to a referee.
"""

import hashlib
import hmac
import struct


def notice_token(league_token: str, league_id: str) -> str:
    """What the manager shows in its notices."""
    return _derived(league_token, "league_manager", b"notice", league_id.encode(), b"", b"", b"")


def match_token(league_token: str, league_id: str, match_id: str, conversation_id: str, direction: str) -> str:
    """What referee and player show each other in one attempt at a match, whose number ends the conversation_id.

    The direction is "referee-to-player" or "player-to-referee".
    """
    number = conversation_id.rpartition("-")[2]
    attempt = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 1
    parts = league_id.encode(), match_id.encode(), struct.pack(">I", attempt), direction.encode()
    return _derived(league_token, match_id.lower(), b"match", *parts)


def same(shown: str, expected: str) -> bool:
    """Compares in constant time, so that nobody can guess a token digit by digit."""
    return hmac.compare_digest(shown.encode(), expected.encode())


def _derived(league_token: str, owner: str, *parts: bytes) -> str:
    key = hashlib.sha256(league_token.encode()).digest()
    text = b"".join(struct.pack(">Q", len(part)) + part for part in parts)
    return f"tok_{owner}_{hmac.new(key, text, hashlib.sha256).hexdigest()}"
