"""Leagues of AI agents: the program `matchday` comes with this package."""
