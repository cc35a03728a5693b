"""Validation: bounds, closed sets, policy, and what cannot be represented."""

import json
from typing import Any

import pytest

import ethogram
from ethogram import ValidationError
from tests.unit.ethogram.samples import MINIMAL, event_members

LONG = "x" * 4097


def details_of(event_type: str, payload: Any) -> dict[str, Any]:  # noqa: ANN401 - any Python value
    """The fields of the fault that `validate` finds."""
    with pytest.raises(ValidationError) as caught:
        ethogram.validate(event_type, payload)
    return caught.value.details


@pytest.mark.parametrize("event_type", MINIMAL)
def test_minimal_payloads_are_valid(event_type: str) -> None:
    """The required fields alone are enough."""
    ethogram.validate(event_type, MINIMAL[event_type])


@pytest.mark.parametrize(
    ("event_type", "change", "path"),
    [
        ("agent.tool_use", {"inputExcerpt": LONG}, "payload.inputExcerpt"),
        ("agent.tool_result", {"resultExcerpt": LONG}, "payload.resultExcerpt"),
        ("agent.warning", {"message": LONG}, "payload.message"),
        ("run.finished", {"reason": LONG}, "payload.reason"),
        ("control.requested", {"text": LONG}, "payload.text"),
        ("control.applied", {"reason": LONG}, "payload.reason"),
        ("capture.refused", {"detail": LONG}, "payload.detail"),
        ("decision.requested", {"options": [{"id": LONG, "label": LONG}]}, "payload.options[0].label"),
    ],
)
def test_excerpts_are_bounded(event_type: str, change: dict[str, Any], path: str) -> None:
    """4,096 scalars pass and one more does not."""
    assert details_of(event_type, MINIMAL[event_type] | change) == {
        "kind": "OverBound",
        "path": path,
        "count": 4097,
        "max": 4096,
    }
    shorter = json.loads(json.dumps(MINIMAL[event_type] | change).replace(LONG, "\U0001f600" * 4096))
    ethogram.validate(event_type, shorter)


def test_dossier_bounds_come_in_order() -> None:
    """Of several texts over their bound, the first in the dossier's order is reported, labels last."""
    dossier = {"question": "q", "optionsRuledOut": ["o", LONG], "recommendedAction": LONG, "blastRadius": LONG}
    payload = MINIMAL["decision.requested"] | {"options": [{"id": "i", "label": LONG}], "dossier": dossier}
    assert details_of("decision.requested", payload)["path"] == "payload.dossier.optionsRuledOut[1]"
    dossier["optionsRuledOut"] = []
    assert details_of("decision.requested", payload)["path"] == "payload.dossier.recommendedAction"
    dossier |= {"recommendedAction": "r", "blastRadius": "b"}
    assert details_of("decision.requested", payload)["path"] == "payload.options[0].label"


def test_string_leaves_are_bounded_in_every_type() -> None:
    """16,384 scalars is the floor under every type, found in document order, before any other fault."""
    assert details_of("x.y", {"z": ["a", {"": "\U0001f600" * 16_385}], "a": "b" * 16_386}) == {
        "kind": "OverBound",
        "path": "payload.z[1].",
        "count": 16_385,
        "max": 16_384,
    }
    assert details_of("agent.warning", {"message": "m" * 16_385, "bad": float("nan")})["max"] == 16_384
    ethogram.validate("x.y", "a" * 16_384)
    ethogram.validate("x.y", {"k" * 20_000: 1})


@pytest.mark.parametrize("spare", [0, 1])
def test_payload_size_is_bounded(spare: int) -> None:
    """131,072 canonical bytes pass and one more does not; whitespace and spelling do not count."""
    payload = {"xs": ["a" * 16_000] * 8, "n": 1.0}
    frame = len(json.dumps(payload, separators=(",", ":"))) - 2
    payload["xs"] = [*["a" * 16_000] * 8, "b" * (131_072 - frame - 3 + spare)]
    if spare:
        assert details_of("x.y", payload) == {"kind": "PayloadTooLarge", "bytes": 131_073, "max": 131_072}
    else:
        ethogram.validate("x.y", payload)


@pytest.mark.parametrize(
    ("event_type", "name"),
    [
        ("run.started", "kind"),
        ("run.finished", "outcome"),
        ("control.requested", "kind"),
        ("capture.refused", "cause"),
        ("decision.requested", "kind"),
    ],
)
@pytest.mark.parametrize("value", ["", "pause", "Loop", "completed ", "__proto__"])
def test_closed_sets_are_closed(event_type: str, name: str, value: str) -> None:
    """An unfamiliar member is reported as its exact raw string, and not shown in the diagnostic."""
    payload = MINIMAL[event_type] | {name: value}
    assert details_of(event_type, payload) == {"kind": "UnknownMember", "path": f"payload.{name}", "value": value}


@pytest.mark.parametrize(
    ("event_type", "change", "path"),
    [
        ("control.requested", {"kind": "steer"}, "payload.text"),
        ("control.requested", {"kind": "steer", "text": ""}, "payload.text"),
        ("decision.requested", {"kind": "budget", "onTimeout": "deny"}, "payload.onTimeout"),
        ("decision.requested", {"onTimeout": "allow"}, "payload.onTimeout"),
        ("decision.requested", {"onTimeout": "deny", "options": []}, "payload.onTimeout"),
        ("decision.requested", {"onTimeout": "deny", "options": [{"id": "x", "label": "deny"}]}, "payload.onTimeout"),
    ],
)
def test_policies_hold(event_type: str, change: dict[str, Any], path: str) -> None:
    """Steering needs text; only a permission times out, only by deny, and only with that on offer."""
    details = details_of(event_type, MINIMAL[event_type] | change)
    assert (details["kind"], details["path"]) == ("Policy", path)
    assert details.keys() == {"kind", "path", "message"}


def test_policies_allow_the_rest() -> None:
    """A steer with text and a permission that denies on time-out are valid."""
    ethogram.validate("control.requested", MINIMAL["control.requested"] | {"kind": "steer", "text": " "})
    ethogram.validate("decision.requested", MINIMAL["decision.requested"] | {"onTimeout": "deny"})


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ({"message": "m", "a": [float("nan")]}, "payload.a[0]"),
        ({"message": "m", "a": (1,)}, "payload.a"),
        ({"message": "m", "a": b"x"}, "payload.a"),
        ({"message": "m", 1: 2}, "payload"),
        ({"message": "\ud800"}, "payload.message"),
        ({"message": "m", "n": {"x": 2**53}}, "payload.n.x"),
        ({"message": "m", "n": 1e300}, "payload.n"),
        ({"message": None}, "payload.message"),
        ({"message": "m", "stage": 5}, "payload.stage"),
        ([], "payload"),
        (None, "payload"),
    ],
)
def test_malformed_payloads_are_named(payload: Any, path: str) -> None:  # noqa: ANN401 - wrong on purpose
    """What cannot be represented is Malformed at its path, with the diagnostic as its message."""
    with pytest.raises(ValidationError) as caught:
        ethogram.validate("agent.warning", payload)
    assert caught.value.details == {"kind": "Malformed", "path": path, "message": str(caught.value)}
    assert caught.value.kind == "Malformed"


def test_missing_fields_have_a_kind_of_their_own() -> None:
    """A missing field is MissingField, nested ones included; the first in the table's order is reported."""
    assert details_of("run.started", {}) == {"kind": "MissingField", "path": "payload.kind"}
    payload = MINIMAL["decision.requested"] | {"dossier": {"question": "q"}, "options": 5}
    assert details_of("decision.requested", payload)["path"] == "payload.dossier.optionsRuledOut"


def test_unknown_types_have_the_universal_bounds_alone() -> None:
    """An unsafe integer in a payload of unknown type is valid, though it would not parse."""
    ethogram.validate("x.y", {"n": [2**53, 2**64, 1e300]})
    ethogram.validate("", None)


@pytest.mark.parametrize(
    ("event_type", "payload"),
    [
        ("run.started", {"kind": "odd", "actor": "a", "harness": "h"}),
        ("agent.warning", {"message": LONG}),
        ("agent.warning", {"message": "m", "more": "x" * 16_385}),
        ("agent.text", {"text": "t", "fill": ["a" * 16_000] * 9}),
        ("control.requested", {"controlId": "c", "kind": "steer", "by": "u", "text": "", "fill": LONG}),
        ("agent.text", {"text": "t"}),
        ("x.y", ["a" * 16_385]),
    ],
)
def test_validate_event_gives_the_same_verdict(event_type: str, payload: Any) -> None:  # noqa: ANN401 - any JSON value
    """With and without the record's length, a parsed event gets the verdict of `validate`."""
    event = ethogram.parse_event(event_members(type=event_type, payload=payload))

    def verdict(hint: int | None) -> dict[str, Any] | None:
        try:
            ethogram.validate_event(event, hint)
        except ValidationError as error:
            return error.details
        return None

    expected = None if payload == {"text": "t"} else details_of(event_type, payload)
    assert verdict(None) == verdict(len(ethogram.serialise_event(event))) == expected
