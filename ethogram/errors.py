"""The error tree of the kit.

    EthogramError
    ├── ParseError             a source is not an event (also a ValueError)
    ├── SerialiseError         a value made by hand has no canonical form (also a TypeError)
    ├── ValidationError        an event breaks a bound, a closed set or a policy (also a TypeError)
    ├── SequenceError          an event is not the next of its run
    ├── RunClosedError         an event follows `run.finished`
    ├── FoldError              events do not make one run
    ├── DecisionAnswerError    an answer does not fit its request
    └── SinkFileError          in `ethogram.files`: a file is locked, damaged, broken or replaced; a tree of its own

Every text has the form `path: expected wanted, got what (kind)` and names paths, sizes and positions. Content never
enters a text: it would reach logs and refusals. Callers read the fields and never the text.

Spec: Sink guide: refusing a validation error
"""

from typing import Final, Literal

from ethogram.bounds import MAX_MESSAGE_PATH_SCALARS

ParseStage = Literal["envelope", "payload"]

OVER_BOUND: Final = "OverBound"
PAYLOAD_TOO_LARGE: Final = "PayloadTooLarge"
UNKNOWN_MEMBER: Final = "UnknownMember"
MISSING_FIELD: Final = "MissingField"
POLICY: Final = "Policy"
MALFORMED: Final = "Malformed"


def shorten_path(path: str) -> str:
    """Cut a path for use inside an error's text.

    Args:
        path: a path of any length; keys of a payload may make it as long as the payload.

    Returns:
        The path, or its first `MAX_MESSAGE_PATH_SCALARS` scalars and an ellipsis; lone surrogates are replaced.

    Spec: Sink guide: refusing a validation error
    """
    short = path if len(path) <= MAX_MESSAGE_PATH_SCALARS else path[:MAX_MESSAGE_PATH_SCALARS] + "…"
    return short.encode("utf-8", "replace").decode("utf-8")


class EthogramError(Exception):
    """The base of every error that this package raises on purpose."""


class ParseError(EthogramError, ValueError):
    """A source is not an event: its JSON, its envelope, or the representability of its payload.

    Attributes:
        path: where, from the event's root (`seq`, `payload.durationMs`), or `event` for the document itself.
        stage: `envelope`, or `payload` once the envelope stood.
        run_id: the envelope's `runId` where it could be read as one unambiguous string, else None.
        seq: the envelope's `seq` where it could be read as an integer within its limits, else None.
        type: the envelope's `type` where it could be read as one unambiguous string, else None.

    Spec: The envelope
    """

    def __init__(
        self,
        path: str,
        fault: str,
        *,
        stage: ParseStage,
        run_id: str | None = None,
        seq: int | None = None,
        type: str | None = None,  # noqa: A002 - the envelope's own word, as everywhere in this package
    ) -> None:
        """Build the text `path: fault (stage)`."""
        super().__init__(f"{shorten_path(path)}: {fault} ({stage})")
        self.path = path
        self.stage = stage
        self.run_id = run_id
        self.seq = seq
        self.type = type


class SerialiseError(EthogramError, TypeError):
    """A value or an event made by hand has no canonical form.

    Attributes:
        path: where, from the event's root.

    Spec: The founding decision: two implementations, one corpus
    """

    def __init__(self, path: str, fault: str) -> None:
        """Build the text `path: fault (serialise)`."""
        super().__init__(f"{shorten_path(path)}: {fault} (serialise)")
        self.path = path


class ValidationError(EthogramError, TypeError):
    """An event breaks a bound, a closed set, a policy, or cannot be represented.

    Attributes:
        kind: one of `OverBound`, `PayloadTooLarge`, `UnknownMember`, `MissingField`, `Policy`, `Malformed`.
        details: `kind` and that kind's fields, and nothing else; JSON values only.

    Spec: Sink guide: refusing a validation error
    """

    def __init__(self, diagnostic: str, details: dict[str, str | int]) -> None:
        """Keep the diagnostic as the text and the fields as data."""
        super().__init__(diagnostic)
        self.details = details

    @property
    def kind(self) -> str:
        """The tag of the fields in `details`."""
        return str(self.details["kind"])


class SequenceError(EthogramError):
    """An event is not the next one of its run; more than expected is a gap, less a duplicate.

    Attributes:
        run_id: the run.
        expected: the 1-based `seq` that the run takes next.
        received: the `seq` that came.

    Spec: The envelope
    """

    def __init__(self, run_id: str, expected: int, received: int) -> None:
        """Build the text from the two numbers; the run id stays a field."""
        super().__init__(f"seq: expected {expected}, got {received} ({'gap' if received > expected else 'duplicate'})")
        self.run_id = run_id
        self.expected = expected
        self.received = received


class RunClosedError(EthogramError):
    """An event follows the `run.finished` of its run.

    Attributes:
        run_id: the run.

    Spec: Run lifecycle
    """

    def __init__(self, run_id: str) -> None:
        """Build the text; the run id stays a field."""
        super().__init__("runId: expected a run that is open, got one with a run.finished (finished)")
        self.run_id = run_id


class FoldError(EthogramError):
    """A series of events does not make one run.

    Spec: Run lifecycle
    """


class DecisionAnswerError(EthogramError, ValueError):
    """An answer does not fit the decision that was requested.

    Attributes:
        path: the field of the answer or the request that fails.

    Spec: Decisions
    """

    def __init__(self, path: str, fault: str) -> None:
        """Build the text `path: fault (decision)`."""
        super().__init__(f"{shorten_path(path)}: {fault} (decision)")
        self.path = path
