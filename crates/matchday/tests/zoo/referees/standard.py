"""A referee as the protocol's description has it."""
from official import Official

Official().serve()
