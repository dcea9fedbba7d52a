"""What the protocol's documents print, as the agents here have been written from them in three editions:

careful  all of the documents: the envelope, tokens, and the methods that the system flow names
002      the contracts to the letter: the envelope and no token; the method is the message type
001      the message structures to the letter: an envelope only where one is printed
"""
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
KINDS = {method: kind for kind, method in METHODS.items()}

# 001 prints these with an envelope, and the others without.
PRINTED_WITH_ENVELOPE = {"ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_QUERY_RESPONSE", "LEAGUE_ERROR"}

ENVELOPE = {"protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token"}
META = {"display_name", "version", "game_types", "contact_endpoint"}
# The keys of a message beside the envelope, and what an object among them holds.
KEYS = {
    "REFEREE_REGISTER_REQUEST": {"referee_meta": META | {"max_concurrent_matches"}},
    "LEAGUE_REGISTER_REQUEST": {"player_meta": META},
    "ROUND_ANNOUNCEMENT": dict.fromkeys(("league_id", "round_id", "matches")),
    "GAME_INVITATION": dict.fromkeys(("league_id", "round_id", "match_id", "game_type", "role_in_match", "opponent_id")),
    "CHOOSE_PARITY_CALL": {"match_id": None, "player_id": None, "game_type": None, "deadline": None,
                           "context": {"opponent_id", "round_id", "your_standings"}},
    "GAME_OVER": {"match_id": None, "game_type": None, "game_result": {
        "status", "winner_player_id", "drawn_number", "number_parity", "choices", "reason"}},
    "MATCH_RESULT_REPORT": {"league_id": None, "round_id": None, "match_id": None, "game_type": None,
                            "result": {"winner", "score", "details"}},
    "LEAGUE_STANDINGS_UPDATE": dict.fromkeys(("league_id", "round_id", "standings")),
    "ROUND_COMPLETED": dict.fromkeys(("league_id", "round_id", "matches_completed", "next_round_id", "summary")),
    "LEAGUE_COMPLETED": dict.fromkeys(("league_id", "total_rounds", "total_matches", "champion", "final_standings")),
    "LEAGUE_QUERY": dict.fromkeys(("league_id", "query_type", "query_params")),
}


def method_of(edition, kind):
    return METHODS[kind] if edition == "careful" else kind


def kind_of(edition, request):
    """Which message a request carries: by its method, or by what it says itself where the documents name no methods."""
    if edition == "careful":
        return KINDS.get(request.get("method"))
    return (request.get("params") or {}).get("message_type")


def unknown_keys(message):
    """The keys of a message that the documents do not print."""
    printed = KEYS.get(message.get("message_type"), {})
    unknown = [key for key in message if key not in printed and key not in ENVELOPE]
    for name, inner in printed.items():
        if inner and isinstance(message.get(name), dict):
            unknown += ["%s.%s" % (name, key) for key in message[name] if key not in inner]
    return unknown


def forbidden(request):
    """The error of an agent that forbids unknown keys, or None."""
    unknown = unknown_keys(request.get("params") or {})
    if not unknown:
        return None
    error = {"code": -32602, "message": "Extra inputs are not permitted: " + ", ".join(unknown)}
    return {"jsonrpc": "2.0", "id": request.get("id"), "error": error}
