"""Hands each line of standard input to the process that listens on a port of this machine, and its answer to standard output."""

import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = connection.makefile("rwb")
    stream.write(sys.argv[2].encode() + b"\n")
    for line in sys.stdin.buffer:
        stream.write(line)
        stream.flush()
        answer = stream.readline()
        if not answer:
            sys.exit("the strategy raised an error")
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
