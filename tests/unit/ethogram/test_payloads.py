"""Typed payloads: read, built, matched, excerpted, written."""

from typing import assert_never, get_args

import pytest

from ethogram import (
    MAX_EXCERPT_SCALARS,
    MAX_TEXT_SCALARS,
    VOCABULARY,
    AgentText,
    AgentToolUse,
    AgentWarning,
    Ceilings,
    DecisionOption,
    DecisionRequested,
    Dossier,
    Event,
    EventDraft,
    ParseError,
    Payload,
    RunFinished,
    RunStarted,
    UnknownMember,
    UnknownPayload,
    Usage,
    read_payload,
    validate,
)
from ethogram.payloads import PAYLOAD_CLASSES, KnownPayload
from tests.unit.ethogram.samples import MINIMAL


def dossier(question: str = "Go on?", *, truncated: bool | None = None) -> Dossier:
    """A dossier with one question."""
    return Dossier(
        question=question,
        options_ruled_out=("wait",),
        recommended_action="go",
        blast_radius="one file",
        truncated=truncated,
    )


def decision(question: str = "Go on?", label: str = "Yes") -> DecisionRequested:
    """A decision with one option."""
    return DecisionRequested(
        decision_id="d1", kind="tripwire", dossier=dossier(question), options=(DecisionOption(id="yes", label=label),)
    )


@pytest.mark.parametrize("name", sorted(MINIMAL))
def test_every_type_reads_as_its_class(name: str) -> None:
    """Each type of the vocabulary has one class, and its smallest payload comes out of it as it went in."""
    read = read_payload(EventDraft(name, MINIMAL[name]))
    assert type(read) is PAYLOAD_CLASSES[name]
    assert read.draft() == EventDraft(name, MINIMAL[name])
    assert read.draft(captured_at="t").captured_at == "t"


def test_the_union_holds_every_class() -> None:
    """The union that users match on is the registry's classes and the unknown one."""
    assert set(get_args(Payload)) == {*PAYLOAD_CLASSES.values(), UnknownPayload}
    assert PAYLOAD_CLASSES.keys() == VOCABULARY.keys()


def test_payloads_are_matched_on_types() -> None:
    """A reader takes events apart by their classes; the last arm is never reached."""

    def say(payload: Payload) -> str:
        match payload:
            case AgentText(text=text):
                return f"said {text}"
            case RunFinished(outcome=UnknownMember() as outcome):
                return f"ended, unfamiliar: {outcome}"
            case RunFinished(outcome="completed", usage=Usage(output_tokens=int(tokens))):
                return f"completed, {tokens} tokens"
            case KnownPayload():
                return payload.TYPE
            case UnknownPayload(type=event_type):
                return f"unknown {event_type}"
            case _:
                assert_never(payload)

    drafts = [
        EventDraft("agent.text", {"text": "hello"}),
        EventDraft("run.finished", {"outcome": "evaporated", "durationMs": 1}),
        EventDraft("run.finished", {"outcome": "completed", "durationMs": 1, "usage": {"outputTokens": 7.0}}),
        EventDraft("agent.started", {}),
        EventDraft("x.seen", [1]),
    ]
    assert [say(read_payload(draft)) for draft in drafts] == [
        "said hello",
        "ended, unfamiliar: evaporated",
        "completed, 7 tokens",
        "agent.started",
        "unknown x.seen",
    ]


def test_absent_stays_absent() -> None:
    """None is absence: it is read from an absent field, and leaves no field behind."""
    started = RunStarted(kind="session", actor="a", harness="h", ceilings=Ceilings(turns=3))
    assert started.to_json() == {"kind": "session", "actor": "a", "harness": "h", "ceilings": {"turns": 3}}
    read = read_payload(started.draft())
    assert read == started
    assert isinstance(read, RunStarted)
    assert read.model is None
    assert AgentText(text="x", truncated=False).to_json() == {"text": "x", "truncated": False}


def test_what_is_unknown_is_kept() -> None:
    """Unknown fields, at every depth, and unfamiliar members come out as they went in, as plain JSON."""
    payload = {
        "kind": "novel",
        "actor": "a",
        "harness": "h",
        "future": [{"deep": None}],
        "ceilings": {"turns": 1, "moons": 2},
    }
    read = read_payload(EventDraft("run.started", payload))
    assert isinstance(read, RunStarted)
    assert (read.kind, type(read.kind)) == ("novel", UnknownMember)
    assert read.extra == {"future": [{"deep": None}]}
    assert read.ceilings == Ceilings(turns=1, extra={"moons": 2})
    assert read.to_json() == payload
    assert type(read.to_json()["kind"]) is str


def test_a_known_field_has_no_place_among_the_unknown() -> None:
    """One field is given in one way; the error names it."""
    with pytest.raises(ValueError, match="extra: expected fields that the vocabulary does not know, got parent_tool"):
        AgentText(text="x", extra={"parentToolUseId": "t"})


def test_payloads_that_are_not_representable_are_refused() -> None:
    """An event made by hand is held to what parsing holds; the error is the kit's own and names the place."""
    with pytest.raises(ParseError, match=r"payload\.durationMs: expected an integer") as caught:
        read_payload(EventDraft("run.finished", {"outcome": "failed", "durationMs": "1"}))
    assert (caught.value.path, caught.value.stage, caught.value.type) == (
        "payload.durationMs",
        "payload",
        "run.finished",
    )
    event = Event("agent.text", "r", 1, "t", None)
    with pytest.raises(ParseError, match="payload: expected an object, got null"):
        read_payload(event)


def test_excerpting_cuts_and_says_so() -> None:
    """Every narrated text is cut to its own bound and the flag is set; what is within its bound is the same value."""
    short = AgentText(text="x" * MAX_TEXT_SCALARS)
    assert short.excerpted() is short
    cut = AgentText(text="😀" * (MAX_TEXT_SCALARS + 1), truncated=False).excerpted()
    assert cut == AgentText(text="😀" * MAX_TEXT_SCALARS, truncated=True)
    call = AgentToolUse(tool="t" * 5000, input_excerpt="y" * 5000).excerpted()
    assert call == AgentToolUse(tool="t" * 5000, input_excerpt="y" * MAX_EXCERPT_SCALARS, truncated=True)


def test_excerpting_flags_the_dossier() -> None:
    """The dossier's one flag tells of its own texts, of each that was ruled out, and of the options' labels."""
    long = "z" * 5000
    kept = "z" * MAX_EXCERPT_SCALARS
    question = decision(question=long).excerpted()
    assert question.dossier == dossier(kept, truncated=True)
    label = decision(label=long).excerpted()
    assert label.options == (DecisionOption(id="yes", label=kept),)
    assert label.dossier.truncated is True
    ruled_out = Dossier(question="", options_ruled_out=("a", long), recommended_action="", blast_radius="").excerpted()
    assert ruled_out.options_ruled_out == ("a", kept)
    assert ruled_out.truncated is True
    assert decision().excerpted() == decision()
    for payload in (question, label):
        validate(payload.TYPE, payload.to_json())


def test_excerpting_never_elides_silently() -> None:
    """A warning has no flag of its own in the vocabulary: it gets one that readers keep as unknown."""
    cut = AgentWarning(message="m" * 5000).excerpted()
    assert cut.to_json() == {"message": "m" * MAX_EXCERPT_SCALARS, "truncated": True}
    validate(cut.TYPE, cut.to_json())
