"""Answers apart, and says so with a message of the type ACK."""
import answers_apart  # noqa: F401 serves as it is loaded, under our name
