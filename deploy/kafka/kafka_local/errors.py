"""The one error of the local broker: what was expected, what was found, and what to do."""


class LocalKafkaError(Exception):
    """The local broker cannot be had or cannot be driven as asked; the text says what to install, set or stop."""
