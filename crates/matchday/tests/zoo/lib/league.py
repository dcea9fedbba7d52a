"""Starts agents on the ports of the system flow, in its order: `python3 league.py EDITION ROLE[:HABIT] ...`, such as
`python3 league.py careful referee:single_threaded player player`. The editions are those of `documents`."""
import sys
import threading
import time

from chair import Chair
from official import Official
from student import Student

MANAGER = "http://localhost:8000/mcp"
NAMES = ["alpha", "beta", "gamma", "delta"]


def main(edition, *agents):
    counts = {"manager": 0, "referee": 0, "player": 0}
    for words in agents:
        role, *habits = words.split(":")
        number = counts[role]
        counts[role] += 1
        if role == "manager":
            agent = Chair(edition, habits, 8000)
            agent.listen()
            threading.Thread(target=agent.manage, daemon=True).start()
        else:
            make, prefix, port = (Student, "P", 8101) if role == "player" else (Official, "REF", 8001)
            # The contracts print a registration from player:P01, the system flow one from player:alpha.
            name = "%s%02d" % (prefix, number + 1) if edition == "002" else NAMES[number]
            agent = make(MANAGER, name, edition, habits, port + number)
            agent.listen()
        threading.Thread(target=agent.server.serve_forever, daemon=True).start()
        if role != "manager":
            agent.register()
    while True:
        time.sleep(3600)


main(*sys.argv[1:])
