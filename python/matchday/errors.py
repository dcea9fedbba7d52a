"""What goes wrong, in words for people."""


class Error(Exception):
    """Something that its reader can put right: the message says what."""
