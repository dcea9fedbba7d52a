"""Starts agents on the ports of the system flow, in its order: `python3 league.py EDITION ROLE[:HABIT...] ...`, such as
`python3 league.py careful referee:single_threaded player player`."""
import sys
import threading
import time

from manager import Manager
from player import Player
from referee import Referee

ROLES = {"manager": (Manager, 8000), "referee": (Referee, 8001), "player": (Player, 8101)}
MANAGER = "http://localhost:8000/mcp"


def main(edition, *wanted):
    counts = dict.fromkeys(ROLES, 0)
    for word in wanted:
        role, *habits = word.split(":")
        make, first_port = ROLES[role]
        counts[role] += 1
        agent = make(edition, habits, counts[role], first_port + counts[role] - 1)
        agent.listen()
        if role == "manager":
            threading.Thread(target=agent.run_league, daemon=True).start()
            print("listening", flush=True)
        else:
            agent.register(MANAGER)
    while True:
        time.sleep(3600)


main(*sys.argv[1:])
