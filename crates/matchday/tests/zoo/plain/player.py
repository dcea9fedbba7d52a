import random

from agent import Agent, now, tell

NAMES = ["Alpha", "Beta", "Gamma", "Delta"]


class Player(Agent):
    player_id = None

    def __init__(self, *given):
        super().__init__(*given)
        self.history = []
        self.handlers = {
            "ROUND_ANNOUNCEMENT": self.acknowledge,
            "GAME_INVITATION": self.join,
            "CHOOSE_PARITY_CALL": self.choose,
            "GAME_OVER": self.remember,
            "GAME_ERROR": self.read_error,
            "LEAGUE_ERROR": self.read_error,
            "LEAGUE_STANDINGS_UPDATE": self.acknowledge,
            "ROUND_COMPLETED": self.acknowledge,
            "LEAGUE_COMPLETED": self.end,
        }

    def sender(self):
        # The contracts print a registration from player:P01, the system flow one from player:alpha.
        own_name = "P%02d" % self.number if self.edition == "002" else NAMES[self.number - 1].lower()
        return "player:" + (self.player_id or own_name)

    def register(self, manager):
        name = NAMES[self.number - 1]
        answer = self.call(manager, self.message(
            "LEAGUE_REGISTER_REQUEST", "conv-player-%s-reg-001" % name.lower(), player_meta={
                "display_name": "Agent " + name, "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": self.endpoint}))
        if answer.get("status") != "ACCEPTED":
            tell(rejected=answer)
            return
        self.player_id = answer["player_id"]
        self.token = answer.get("auth_token")
        tell(registered=self.player_id)

    def join(self, invitation):
        return self.message("GAME_JOIN_ACK", invitation.get("conversation_id"), match_id=invitation["match_id"],
                            player_id=self.player_id, arrival_timestamp=now(), accept=True)

    def choose(self, call):
        return self.message("CHOOSE_PARITY_RESPONSE", call.get("conversation_id"), match_id=call["match_id"],
                            player_id=self.player_id, parity_choice=random.choice(["even", "odd"]))

    def remember(self, game_over):
        result = game_over["game_result"]
        self.history.append((game_over["match_id"], result["status"], result["choices"]))
        return {"status": "ok"}

    def read_error(self, error):
        tell(told=error)
        return {"status": "ok"}

    def end(self, completed):
        tell(player_ended=self.player_id, matches=len(self.history), champion=completed["champion"]["player_id"])
        return {"status": "ok"}
