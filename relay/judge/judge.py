"""The judge: one record and the states of its partition's runs in, a verdict and a new run state out.

It cannot fail: every bad input has a refusal. It keeps nothing, reads no clock and writes no log. The order of the
checks names the cause of a record with several faults and is part of the contract (`relay/DESIGN.md`, "Order of
checks"):

    value present -> envelope -> key is the runId -> owner -> payload -> validation -> run closed -> seq -> size
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn

from ethogram import (
    MAX_EXCERPT_SCALARS,
    Event,
    EventDraft,
    ParseError,
    RunClosedError,
    SequenceError,
    ValidationError,
    check_payload,
    excerpt,
    parse_envelope,
    refusal_of,
    validate_event,
)
from ethogram.errors import OVER_BOUND, PAYLOAD_TOO_LARGE
from ethogram.validate import is_plainly_valid
from relay.judge.partitioner import murmur2_partition
from relay.judge.run_state import SEQ_FIRST, Runs, RunState, expected_seq, forwarded, passed_over
from relay.judge.verdict import Cause, Judgement, Refusal
from relay.records import SourceRecord, record_batch_bytes

_RECORD_OVERHEAD_BYTES_MAX: Final = 128
"""What a batch of one record without headers adds to its key and value stays under this (61 + 3 + four varints)."""
_STATE_OVERHEAD_BYTES_MAX: Final = 512
"""What the changelog's record of a run adds to the run's id at most: batch header, numbers, a topic name."""


class SourceRules(NamedTuple):
    """How one source is judged."""

    source: str
    """The source topic's name."""
    own_run_prefix: str
    """Run ids that begin so are the relay's own and may not come from a source."""
    record_bytes_max: int
    """The largest record, as a batch of one, that every output takes."""
    enforce: bool = True
    """`validation: enforce`; False forwards what `validate` reports and counts it."""
    advance: bool = False
    """`after_refusal: advance`; False holds the run until the refused `seq` arrives mended."""
    murmur2_partitions: int = 0
    """The partition count where the source promises the Java client's partitioner, else 0."""
    state_bytes_max: int = 1_000_000
    """The largest record, as a batch of one, that the changelog takes: a run's id is its key."""
    value_bytes_safe: int = 0
    """A record without headers whose value is no larger fits all outputs: its key is a part of its value."""

    @classmethod
    def of(
        cls,
        source: str,
        own_run_prefix: str,
        record_bytes_max: int,
        state_bytes_max: int,
        *,
        enforce: bool,
        advance: bool,
        murmur2: int = 0,
    ) -> "SourceRules":
        """Make rules, with what follows from them worked out once."""
        by_record = (record_bytes_max - _RECORD_OVERHEAD_BYTES_MAX) // 2
        by_state = state_bytes_max - _STATE_OVERHEAD_BYTES_MAX
        safe = min(by_record, by_state)
        return cls(source, own_run_prefix, record_bytes_max, enforce, advance, murmur2, state_bytes_max, safe)


_new_judgement: Final[Callable[[type[Judgement], tuple[Any, ...]], Judgement]] = tuple.__new__
"""The constructor without its arguments to sort out: half the time, once a record."""

_Refusable = ParseError | ValidationError | SequenceError | RunClosedError


class _Refused(Exception):
    """Carries the kit's error up to the one place that builds a refusal."""

    def __init__(self, error: _Refusable, cause: Cause) -> None:
        super().__init__()
        self.error = error
        self.cause = cause


def judge(record: SourceRecord, runs: Runs, rules: SourceRules) -> Judgement:
    """Judge one record.

    Args:
        record: The record as it was read.
        runs: The states of the runs of the record's partition, those staged by earlier records of the batch first.
        rules: How the record's source is judged.

    Returns:
        The verdict; it says which state the run takes, and changes nothing itself.

    Spec: The envelope; Run lifecycle; Sink guide: refusing a validation error.
    """
    value = record.value
    if value is None:
        return _unread(record, _malformed("value", "expected an event, got a tombstone (no value)"))
    try:
        event = parse_envelope(value)
    except ParseError as error:
        return _unread(record, error)
    event_type, run_id, seq, _ts, payload, _captured_at = event
    if record.key != run_id.encode() or run_id.startswith(rules.own_run_prefix) or rules.murmur2_partitions:
        fault = _attribution_fault(record, event, rules)
        if fault is not None:
            return _refusal(event, fault, Cause.MALFORMED)
    state = runs.get(run_id)
    if state is not None and state.source != rules.source:
        return _refusal(event, _foreign(state, rules), Cause.MALFORMED)
    finding = None
    try:
        if not is_plainly_valid(event_type, payload, len(value)):
            finding = _check_content(event, len(value), enforce=rules.enforce)
        if seq != (SEQ_FIRST if state is None else state.next_seq) or (state is not None and state.finished):
            _refuse_order(event, state)
        if record.headers is not None or len(value) > rules.value_bytes_safe:
            _check_size(record, value, rules)
    except _Refused as refused:
        return _refused_in_turn(event, state, rules, refused)
    return _new_judgement(Judgement, (None, run_id, forwarded(state, rules.source, event_type), finding, False))


def _malformed(path: str, fault: str) -> ParseError:
    return ParseError(path, fault, stage="envelope")


def _attribution_fault(record: SourceRecord, event: Event, rules: SourceRules) -> ParseError | None:
    """What is wrong with the record around the event: its key, a run id that is the relay's, or its partition.

    Asked where the key is not the run id, the run id is reserved, or the source promises a partitioner.
    """
    key = record.key
    if key is None:
        return _malformed("key", "expected the record key to be the runId, got no key")
    if key != event.run_id.encode():
        return _malformed("key", f"expected the record key to be the runId, got another key of {len(key)} bytes")
    if event.run_id.startswith(rules.own_run_prefix):
        return _malformed("runId", "expected a run of a source, got a run id that is reserved for the relay")
    wanted = murmur2_partition(key, rules.murmur2_partitions)
    if record.partition != wanted:
        return _malformed("partition", f"expected murmur2 of the key, {wanted}, got {record.partition}")
    return None


def _foreign(state: RunState, rules: SourceRules) -> ParseError:
    """The fault of an event whose run another source carried first."""
    owner = excerpt(state.source, MAX_EXCERPT_SCALARS).text
    return _malformed("runId", f"expected this run from source {owner}, which carried it first, got {rules.source}")


def _check_content(event: Event, value_bytes: int, *, enforce: bool) -> str | None:
    """Hold the payload against the vocabulary: representable always, valid where the source enforces it.

    Returns:
        The kind of the validation error that a reporting source lets pass, None for a valid event.

    Raises:
        _Refused: With the kit's error.
    """
    try:
        check_payload(event)
        validate_event(event, value_bytes)
    except ParseError as error:
        raise _Refused(error, Cause.MALFORMED) from None
    except ValidationError as error:
        if not enforce:
            return error.kind
        raise _Refused(error, Cause.OVER_BOUND if error.kind in _OVER_BOUND_KINDS else Cause.MALFORMED) from None
    return None


_OVER_BOUND_KINDS = frozenset({OVER_BOUND, PAYLOAD_TOO_LARGE})
"""The two kinds that the sink guide maps to `over_bound`. Spec: Sink guide: refusing a validation error."""


def _refuse_order(event: Event, state: RunState | None) -> NoReturn:
    """The event is not the one that its run takes next: say why, closure first, then the sequence.

    Raises:
        _Refused: `finished`, `duplicate` or `gap`.
    """
    if state is not None and state.finished:
        raise _Refused(RunClosedError(event.run_id), Cause.FINISHED)
    wanted = expected_seq(state)
    cause = Cause.GAP if event.seq > wanted else Cause.DUPLICATE
    raise _Refused(SequenceError(event.run_id, expected=wanted, received=event.seq), cause)


def _check_size(record: SourceRecord, value: bytes, rules: SourceRules) -> None:
    """Hold the record against what the outputs take; a broker would refuse its whole batch otherwise.

    Raises:
        _Refused: `over_bound` of the field `record`, in bytes.
    """
    measured, most = record_batch_bytes(record.key, value, record.headers), rules.record_bytes_max
    if measured <= most:
        measured, most = _state_bytes(len(record.key or b"")), rules.state_bytes_max
    if measured > most:
        diagnostic = f"record: expected at most {most} bytes, got {measured} ({OVER_BOUND})"
        details: dict[str, str | int] = {"kind": OVER_BOUND, "path": "record", "count": measured, "max": most}
        raise _Refused(ValidationError(diagnostic, details), Cause.OVER_BOUND)


def _state_bytes(run_id_bytes: int) -> int:
    """How large a run's record in the changelog is at most."""
    return run_id_bytes + _STATE_OVERHEAD_BYTES_MAX


def _refused_in_turn(event: Event, state: RunState | None, rules: SourceRules, refused: _Refused) -> Judgement:
    """Refuse an event that passed envelope, key and owner.

    In `advance`, the one that was expected next takes its number all the same; in `hold`, its run waits. Whatever
    lies beyond that one waits in both, for what is missing.
    """
    judgement = _refusal(event, refused.error, refused.cause)
    if state is not None and state.finished:
        return judgement
    if event.seq != expected_seq(state):
        return judgement._replace(held=event.seq > expected_seq(state))
    if rules.advance and _state_bytes(len(event.run_id.encode())) <= rules.state_bytes_max:
        return judgement._replace(next_state=passed_over(state, rules.source))
    return judgement._replace(held=True)


def _refusal(event: Event, error: _Refusable, cause: Cause) -> Judgement:
    """The refusal of an event whose envelope was read; it moves nothing."""
    draft = refusal_of(error, source_run_id=event.run_id, source_seq=event.seq, source_type=event.type)
    return _attributed(draft, event.run_id, cause)


def _unread(record: SourceRecord, error: ParseError) -> Judgement:
    """The refusal of a record whose envelope could not be read; it moves nothing."""
    run_id = error.run_id if error.run_id is not None else _run_id_of_key(record)
    draft = refusal_of(error, source_run_id=run_id, source_seq=error.seq, source_type=error.type)
    return _attributed(draft, run_id, Cause.MALFORMED)


def _run_id_of_key(record: SourceRecord) -> str:
    """Name the run of a record that does not: by its key if that is text, else by its coordinates."""
    if record.key is not None:
        try:
            return record.key.decode()
        except UnicodeDecodeError:
            pass  # not text: the coordinates below name the record without loss
    return f"unattributed:{record.topic}:{record.partition}:{record.offset}"


def _attributed(draft: EventDraft, run_id: str, cause: Cause) -> Judgement:
    """Put a refusal together, noting whether the draft had to cut the run id."""
    return Judgement(Refusal(cause, draft, run_id, len(run_id) > MAX_EXCERPT_SCALARS), run_id, None)
