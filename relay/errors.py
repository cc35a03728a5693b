"""The relay's error tree. Callers tell errors apart by class, never by text.

RelayError
├── ConfigError         the configuration holds faults
├── StartUpError        the cluster is not as the relay needs it
├── NotAnswered         the cluster did not answer in time; it may be asked again
├── Interrupted         a stop was asked for while the cluster was being waited for
├── TransactionAborted  one transaction failed and was aborted; the relay goes on from the committed offsets
├── OutcomeUnknown      a transaction may or may not be committed; the producer must be made anew first
├── PartitionFault      one partition must stop: going on would jump over something
├── Fenced              a successor has this identity; end the process
└── Fatal               the client cannot go on; end the process
"""


class RelayError(Exception):
    """Any error that the relay raises on purpose."""


class ConfigError(RelayError):
    """The configuration holds faults, all of them in `faults`."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class StartUpError(RelayError):
    """The cluster is not as the relay needs it; every finding is in `faults`, each with what to change."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class NotAnswered(RelayError):
    """The cluster did not answer in time, or what was asked for is not there (yet)."""


class Interrupted(RelayError):
    """A stop was asked for while the cluster was being waited for; what was being done is left undone."""


class TransactionAborted(RelayError):
    """A transaction was aborted; nothing of it is visible."""


class OutcomeUnknown(RelayError):
    """A transactional call timed out or ended in a way that leaves its effect open."""


class PartitionFault(RelayError):
    """One partition number must stop being judged."""

    def __init__(self, partition: int, reason: str) -> None:
        super().__init__(f"partition {partition}: {reason}")
        self.partition = partition
        self.reason = reason


class Fenced(RelayError):
    """Another process took over the transactional identity or the group instance id."""


class Fatal(RelayError):
    """The client or the cluster failed for good."""
