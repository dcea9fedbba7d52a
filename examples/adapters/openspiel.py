#!/usr/bin/env python3
"""Any two-player game of OpenSpiel (`pip install open_spiel`) as the rules of a league:

    matchday run --game-command "examples/adapters/openspiel.py breakthrough"
    matchday run --game-command "examples/adapters/openspiel.py go(board_size=9)"
"""

from adapter import SEATS, TURNS_MAX, Refused, game_type, over, serve, view_of

# The referee draws whole numbers: outcomes that are not equally likely are picked by their share of this many.
DRAWS = 1 << 32


class Spiel:
    def __init__(self, name):
        self.name, self.game = name, load(name)
        kind = self.game.get_type()
        self.is_public = "PERFECT" in words(kind.information).split() or kind.information.name == "ONE_SHOT"
        # A begins; in some games OpenSpiel's second player does.
        self.seats = "BA" if self.game.new_initial_state().current_player() == 1 else SEATS
        self.turns_max = min(self.game.max_game_length() + self.game.max_chance_nodes_in_history(), TURNS_MAX)

    def describe(self):
        kind = self.game.get_type()
        facts = [kind.dynamics, kind.chance_mode, kind.information, kind.utility]
        rules = [
            f"# {kind.long_name}",
            f"The game `{self.game}` of OpenSpiel ({', '.join(words(fact).lower() for fact in facts)}).",
            "`context.observation` is what you may see; the moves are those that OpenSpiel names. The player with the higher "
            f"return at the end wins; returns lie between {self.game.min_utility():g} and {self.game.max_utility():g}. "
            f"After {self.turns_max} turns it is a draw.",
            f"The start:\n\n```\n{Match(self).text()}\n```",
        ]
        return {
            "game_type": game_type("openspiel", self.name),
            "about": f"{kind.long_name}, of OpenSpiel",
            "rules": "\n\n".join(rules),
            "turns_max": self.turns_max,
        }

    def start(self):
        return Match(self)


def words(constant):
    return constant.name.replace("_", " ")


def load(name):
    import pyspiel

    if name.partition("(")[0] not in pyspiel.registered_names():
        raise Refused(f"OpenSpiel has no game {name}: `python3 -c 'import pyspiel; print(pyspiel.registered_names())'` lists them")
    try:
        game = pyspiel.load_game(name)
        if game.num_players() != 2 and game.get_type().min_num_players <= 2 and "(" not in name:
            game = pyspiel.load_game(name, {"players": 2})
    except pyspiel.SpielError as error:
        raise Refused(f"OpenSpiel cannot load {name}: {str(error).splitlines()[0]}") from None
    kind = game.get_type()
    if game.num_players() != 2:
        raise Refused(f"{name} has {game.num_players()} players: Matchday plays games of two")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise Refused(f"{name} draws its own random numbers: the referee could not draw them fairly")
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise Refused(f"{name} is a mean field game, not one of two players")
    return game


class Match:
    def __init__(self, spiel):
        self.spiel, self.state, self.turns = spiel, spiel.game.new_initial_state(), 0

    def advance(self, turn):
        self.turns += 1
        if "chance" in turn:
            self.state.apply_action(self.drawn(turn["chance"]))
        elif self.state.is_simultaneous_node():
            made = [self.moves(player).get(turn.get(self.seat(player)), 0) for player in (0, 1)]
            self.state.apply_actions(made)
        else:
            player = self.state.current_player()
            self.state.apply_action(self.moves(player)[turn[self.seat(player)]])

    def position(self):
        state = self.state
        if state.is_terminal():
            returns = state.returns()
            by_seat = [returns[self.spiel.seats.index(seat)] for seat in SEATS]
            return over(by_seat, {"turns": self.turns}) | self.view()
        if self.turns >= self.spiel.turns_max:
            return over((0, 0), {"turns": self.turns}) | self.view() | {"reason": f"{self.turns} turns without an end"}
        if state.is_chance_node():
            return {"turn": "chance", "range": [0, self.draws() - 1]}
        players = [0, 1] if state.is_simultaneous_node() else [state.current_player()]
        moves = {self.seat(player): list(self.moves(player)) for player in players}
        # At a simultaneous node a player may have nothing to choose.
        moves = {seat: options for seat, options in moves.items() if options}
        turn = "both" if len(moves) == 2 else next(iter(moves))
        context = {seat: {"observation": self.observation(self.spiel.seats.index(seat))} for seat in moves}
        return {"turn": turn, "moves": moves, "context": context} | self.view()

    def seat(self, player):
        return self.spiel.seats[player]

    def moves(self, player):
        """Every legal move of a player by its name."""
        named = {}
        for action in self.state.legal_actions(player):
            name = self.state.action_to_string(player, action)
            named[name if name not in named else f"{name} ({action})"] = action
        return named

    def draws(self):
        outcomes = self.state.chance_outcomes()
        is_even = len({round(share, 9) for _, share in outcomes}) == 1
        return len(outcomes) if is_even else DRAWS

    def drawn(self, number):
        outcomes, draws, sum_of_shares = self.state.chance_outcomes(), self.draws(), 0.0
        if draws == len(outcomes):
            return outcomes[number][0]
        for action, share in outcomes:
            sum_of_shares += share
            if number < sum_of_shares * draws:
                return action
        return outcomes[-1][0]

    def text(self):
        return str(self.state).rstrip() if self.spiel.is_public else f"(hidden) {self.spiel.game}"

    def view(self):
        return view_of(str(self.state).rstrip()) if self.spiel.is_public or self.state.is_terminal() else {}

    def observation(self, player):
        kind = self.spiel.game.get_type()
        if self.spiel.is_public:
            return str(self.state).rstrip()
        if kind.provides_information_state_string:
            return self.state.information_state_string(player)
        return self.state.observation_string(player) if kind.provides_observation_string else ""


def build(arguments):
    if len(arguments) != 1:
        raise Refused("expected the name of one game of OpenSpiel, as in: openspiel.py breakthrough")
    return Spiel(arguments[0])


if __name__ == "__main__":
    serve(build)
