"""The end of a fit that nobody expects: what a callback raises in place of a kill."""


class KilledError(Exception):
    """The process is gone."""
