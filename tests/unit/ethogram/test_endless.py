"""Values that contain themselves, or nest without measure: made by hand, and refused without a loop or an overflow."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import ethogram
from ethogram import EthogramError, Event, EventDraft, InMemorySink
from ethogram.walk import numbers_are_safe
from tests.unit.ethogram.samples import MINIMAL


def in_itself() -> list[Any]:
    """A list that holds itself."""
    knot: list[Any] = []
    knot.append(knot)
    return knot


def twice_in_itself() -> dict[str, Any]:
    """An object that holds itself twice, so that the ways through it double with every level."""
    knot: dict[str, Any] = {}
    knot.update(one=knot, other=[knot])
    return knot


def widely_in_itself() -> list[Any]:
    """A list that holds itself a thousand times, behind texts and unsafe numbers."""
    knot: list[Any] = ["text", 2.0**60]
    knot.extend([knot] * 1000)
    return knot


def bottomless() -> list[Any]:
    """A list of a hundred thousand levels that does end."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def event_of(event_type: str, payload: Any) -> Event:  # noqa: ANN401 - any Python value
    """An event made by hand, past every reader."""
    return Event(event_type, "r", 1, "t", payload)


def members_of(event_type: str, payload: Any) -> dict[str, Any]:  # noqa: ANN401 - any Python value
    """The same event's members."""
    return event_of(event_type, payload).to_dict()


CALLS: dict[str, Callable[[str, Any], object]] = {
    "parse_event": lambda name, payload: ethogram.parse_event(members_of(name, payload)),
    "parse_draft": lambda name, payload: ethogram.parse_draft(EventDraft(name, payload)),
    "check_payload": lambda name, payload: ethogram.check_payload(event_of(name, payload)),
    "validate": ethogram.validate,
    "validate_event": lambda name, payload: ethogram.validate_event(event_of(name, payload)),
    "read_payload": lambda name, payload: ethogram.read_payload(EventDraft(name, payload)),
    "serialise_event": lambda name, payload: ethogram.serialise_event(event_of(name, payload)),
    "append_draft": lambda name, payload: InMemorySink().append_draft("r", EventDraft(name, payload)),
    "append_event": lambda name, payload: InMemorySink().append_event(event_of(name, payload)),
    "append_event, validating": lambda name, payload: InMemorySink(validating=True).append_event(
        event_of(name, payload)
    ),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("make", [in_itself, twice_in_itself, widely_in_itself])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("event_type", ["x.seen", "agent.text", "run.finished"])
def test_endless_payloads_are_refused(event_type: str, name: str, make: Callable[[], object]) -> None:
    """Every call that takes a payload refuses it with the kit's own error, as a whole and in an unknown field."""
    for payload in (make(), MINIMAL.get(event_type, {}) | {"unknown": make()}):
        with pytest.raises(EthogramError):
            CALLS[name](event_type, payload)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("make", [in_itself, twice_in_itself, widely_in_itself])
def test_lifecycles_and_decisions_with_endless_payloads_are_refused(make: Callable[[], object]) -> None:
    """Folding and the cross-event check end with their own errors, whatever is in an unknown field."""
    started = event_of("run.started", MINIMAL["run.started"] | {"unknown": make()})
    with pytest.raises(ethogram.FoldError):
        ethogram.fold_run([started])
    request, answer = MINIMAL["decision.requested"], MINIMAL["decision.answered"]
    with pytest.raises(ethogram.DecisionAnswerError):
        ethogram.validate_decision_answer(request | {"unknown": make()}, answer)
    with pytest.raises(ethogram.DecisionAnswerError):
        ethogram.validate_decision_answer(request, answer | {"unknown": make()})


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("event_type", ["x.seen", "agent.text"])
def test_bottomless_payloads_overflow_nothing(event_type: str, name: str) -> None:
    """A value of any depth that does end is taken or refused with the kit's own error, never with the stack's."""
    for payload in (bottomless(), MINIMAL.get(event_type, {}) | {"unknown": bottomless()}):
        with contextlib.suppress(EthogramError):
            CALLS[name](event_type, payload)


def test_the_deep_place_is_named() -> None:
    """The refusal names the first place that is too deep, by its path."""
    with pytest.raises(ethogram.ParseError) as caught:
        ethogram.check_payload(event_of("x.seen", in_itself()))
    assert caught.value.path == "payload" + "[0]" * 1023
    assert "1023 levels" in str(caught.value)


def test_large_payloads_take_the_exact_look() -> None:
    """A payload with more parts than the quick pass looks at is representable all the same, or refused by its place."""
    large: list[Any] = [0] * 200_000
    assert not numbers_are_safe(large)
    ethogram.check_payload(event_of("x.seen", large))
    large[-1] = 2**53
    with pytest.raises(ethogram.ParseError) as caught:
        ethogram.check_payload(event_of("x.seen", large))
    assert caught.value.path == "payload[199999]"


def test_texts_before_the_deep_place_come_first() -> None:
    """String leaves are reported in document order as long as the walk goes; what is too deep ends it."""
    knot = in_itself()
    with pytest.raises(ethogram.ValidationError) as caught:
        ethogram.validate("x", ["w" * 16_385, knot])
    assert caught.value.kind == "OverBound"
    with pytest.raises(ethogram.ValidationError) as caught:
        ethogram.validate("x", [knot, "w" * 16_385])
    assert caught.value.kind == "Malformed"
