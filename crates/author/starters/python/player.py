"""The same player by the package: `pip install matchday`."""

import matchday
import strategy
from agent import GAME, NAME

player = matchday.Player(NAME, strategy=getattr(strategy, "PLAYS_BY", None))
player.choose(GAME)(strategy.choose)

if __name__ == "__main__":
    player.run()
