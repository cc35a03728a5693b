"""What a stream shows of a run's course."""

import dataclasses
import pickle
from typing import Any

import pytest

from ethogram import Event, FoldError, RunFinished, RunStarted
from ethogram.payloads import Ceilings
from ethogram.stream import Control, ControlApplication, Oddity, OddityKind, StreamFold, StreamView, fold_stream
from tests.unit.ethogram.samples import MINIMAL
from tests.unit.ethogram.stream.script import Script


def test_a_stream_of_nothing_is_empty() -> None:
    """No event makes no run, and totals that know no cost."""
    view = fold_stream([])
    assert not view.runs
    assert view.roots == ()
    assert (view.totals.cost_usd, view.totals.session_count, view.totals.usage) == (None, 0, ())
    assert view.totals.tokens.input_tokens is None


def test_a_run_shows_what_its_start_and_finish_declare() -> None:
    """Every declared field but narration is there, and unfamiliar members are carried as they came."""
    script = Script()
    script.tell("q", "run.started")
    script.tell(
        "r",
        "run.started",
        ts="t1",
        kind="odd kind",
        actor="ada",
        harness="mine",
        model="m",
        parentRunId="q",
        parentToolUseId="u",
        schedule="s",
        repository="a/b",
        workOrder="w",
        ceilings={"turns": 5.0, "costUsd": 1.5, "note": "unknown fields are left out"},
    )
    script.tell("r", "x.unknown", note=1)
    script.tell("r", "x.unknown")
    script.tell("r", "agent.warning", truncated=True)
    script.tell("r", "run.finished", ts="t9", outcome="odd outcome", durationMs=7.0)
    view = script.view()
    run = view.runs["r"]
    assert (run.kind, run.actor, run.harness, run.model) == ("odd kind", "ada", "mine", "m")
    assert (run.parent_run_id, run.parent_tool_use_id) == ("q", "u")
    assert (run.schedule, run.repository, run.work_order) == ("s", "a/b", "w")
    assert run.ceilings == Ceilings(turns=5, cost_usd=1.5)
    assert (run.outcome, run.duration_ms, run.is_open, run.start_seen) == ("odd outcome", 7, False, True)
    assert (run.first_seq, run.first_ts, run.last_seq, run.last_ts) == (1, "t1", 5, "t9")
    assert run.event_counts == (("run.started", 1), ("x.unknown", 2), ("agent.warning", 1), ("run.finished", 1))
    assert (run.event_count, run.warning_count, run.truncated_count, run.count_of("agent.text")) == (5, 1, 1, 0)
    assert run.oddities == ()
    assert [one.run_id for one in view.open_runs] == ["q"]
    assert [one.run_id for one in view.finished_runs] == ["r"]


def test_every_cut_narration_is_counted() -> None:
    """The flag counts wherever a known type has it, a dossier's too; in an unknown type it may mean anything."""
    dossier = MINIMAL["decision.requested"]["dossier"] | {"truncated": True}
    script = Script().tell("r", "agent.text", truncated=True).tell("r", "agent.text", truncated=False)
    script.tell("r", "decision.requested", dossier=dossier).tell("r", "x.unknown", truncated=True)
    assert script.view().runs["r"].truncated_count == 2


@pytest.mark.parametrize(
    ("types", "oddities"),
    [
        (["run.started", "run.started"], [Oddity(OddityKind.SECOND_START, 2, 2)]),
        (["run.finished"], [Oddity(OddityKind.FINISH_WITHOUT_START, 1, 1)]),
        (["agent.text", "run.started"], [Oddity(OddityKind.START_NOT_FIRST, 2, 2)]),
        (["run.started", "run.finished", "run.finished"], [Oddity(OddityKind.SECOND_FINISH, 3, 3)]),
        (["run.started", "run.finished", "agent.text", "x.y"], [Oddity(OddityKind.AFTER_FINISH, 3, 4)]),
        (["agent.text", "agent.text"], []),
    ],
)
def test_an_odd_course_is_noted_and_raises_nothing(types: list[str], oddities: list[Oddity]) -> None:
    """A second start, a finish alone, what follows a finish: each is noted with its place, and still counted."""
    script = Script()
    for event_type in types:
        script.tell("r", event_type)
    run = script.view().runs["r"]
    assert list(run.oddities) == oddities
    assert run.event_count == len(types)


def test_the_first_start_and_the_last_finish_count() -> None:
    """A second start changes nothing; a second finish is the one that stands, as in the fold of one run."""
    script = Script().tell("r", "run.started", actor="first").tell("r", "run.started", actor="second")
    script.tell("r", "run.finished", outcome="completed").tell("r", "run.finished", outcome="failed", durationMs=9)
    run = script.view().runs["r"]
    assert (run.actor, run.outcome, run.duration_ms) == ("first", "failed", 9)


def test_what_follows_the_first_finish_is_beyond_it() -> None:
    """A second finish does not make room between the two, not even for what comes late."""
    script = Script().tell("r", "run.started").tell("r", "run.finished").tell("r", "run.finished", at=4)
    run = script.tell("r", "agent.text", at=3).view().runs["r"]
    assert Oddity(OddityKind.AFTER_FINISH, 3, 3) in run.oddities


def test_an_event_that_comes_again_counts_once() -> None:
    """A stream read twice shows each run as a stream read once, but for the oddity."""
    script = Script().tell("r", "run.started").tell("r", "agent.started", sessionId="s")
    script.tell("r", "agent.tool_use", toolUseId="u").tell("r", "agent.completed", usage={"inputTokens": 5})
    script.tell("r", "run.finished")
    once, twice = script.view().runs["r"], fold_stream(script.events * 2).runs["r"]
    assert twice.oddities == (Oddity(OddityKind.REPEATED, 1, 5),)
    assert dataclasses.replace(twice, oddities=()) == once


def test_refusals_and_answers_that_come_again_count_once() -> None:
    """What one run says of another is not doubled by reading it twice."""
    script = Script().tell("r", "decision.requested").tell("a", "decision.answered")
    script.tell("relay", "capture.refused", sourceRunId="r", sourceSeq=2)
    view = fold_stream(script.events * 2)
    assert len(view.runs["r"].refusals) == 1
    assert len(view.runs["r"].decisions[0].answers) == 1


def test_an_event_that_comes_late_counts() -> None:
    """A number that was missing until now is no repeat; first and last go by the numbers."""
    script = Script().tell("r", "run.started", ts="t1").tell("r", "run.finished", at=4, ts="t4")
    script.tell("r", "agent.text", at=3, ts="t3").tell("r", "agent.text", at=2, ts="t2")
    run = script.view().runs["r"]
    assert run.count_of("agent.text") == 2
    assert (run.first_ts, run.last_seq, run.last_ts) == ("t1", 4, "t4")
    assert [one.kind for one in run.oddities] == [OddityKind.OUT_OF_ORDER, OddityKind.OUT_OF_ORDER]


def test_a_late_first_event_is_the_first() -> None:
    """The lowest number is the first one, whenever it came."""
    run = Script().tell("r", "agent.text", at=2, ts="t2").tell("r", "run.started", at=1, ts="t1").view().runs["r"]
    assert (run.first_seq, run.first_ts, run.last_ts) == (1, "t1", "t2")


def test_controls_are_shown_with_what_became_of_them() -> None:
    """Requests and applications meet by id; an application alone, and ids that repeat, are tolerated."""
    script = Script().tell("r", "control.requested", controlId="c", kind="odd", by="ada", text="secret")
    script.tell("r", "control.requested", controlId="c", by="bob")
    script.tell("r", "control.applied", controlId="c", ok=False)
    script.tell("r", "control.applied", controlId="c", landedIn="u")
    script.tell("r", "control.applied", controlId="d")
    assert script.view().runs["r"].controls == (
        Control("c", "odd", "ada", (1, 2), (ControlApplication(3, ok=False), ControlApplication(4, True, "u"))),  # noqa: FBT003 - positional in the value's order
        Control("d", applications=(ControlApplication(5, ok=True),)),
    )


def test_refusals_show_on_both_runs() -> None:
    """The run that refuses counts causes; the run that is named lists the refusals, though its id was cut."""
    long_id = "x" * 5_000
    script = Script().tell(long_id, "run.started")
    script.tell("relay", "capture.refused", cause="odd", sourceRunId=long_id[:4_096], sourceSeq=3.0)
    script.tell("relay", "capture.refused", cause="gap", sourceRunId=long_id[:4_096], sourceSeq=2)
    script.tell("relay", "capture.refused", cause="gap", sourceRunId="elsewhere")
    view = script.view()
    assert view.runs["relay"].refusal_counts == (("odd", 1), ("gap", 2))
    found = [(one.cause, one.run_id, one.seq, one.source_seq) for one in view.runs[long_id].refusals]
    assert found == [("gap", "relay", 2, 2), ("odd", "relay", 1, 3)]


@pytest.mark.parametrize(
    ("event_type", "payload"),
    [
        ("run.started", {"kind": "loop"}),
        ("agent.text", {"text": 1}),
        ("agent.text", None),
        ("agent.completed", {"costUsd": float("nan")}),
        ("capture.refused", {"cause": "gap"}),
        ("x.unknown", {"count": 2**60}),
    ],
)
def test_what_is_not_representable_changes_nothing(event_type: str, payload: object) -> None:
    """An event made by hand that no wire could carry raises, and the fold goes on as if it had not been."""
    fold, script = StreamFold(), Script().tell("r", "run.started")
    fold.add(script.events[0])
    before = fold.view()
    for run_id in ("r", "new"):
        with pytest.raises(FoldError):
            fold.add(Event(event_type, run_id, 2, "t", payload))
    assert fold.view() == before
    fold.add(Event("agent.text", "r", 2, "t", {"text": "t"}))
    assert fold.view().runs["r"].oddities == ()


def test_a_view_stands_while_the_fold_goes_on() -> None:
    """Later events make new views, and runs without news are the very same values."""
    script = Script().tell("r", "run.started").tell("q", "run.started").tell("r", "run.finished")
    fold = StreamFold()
    fold.add(script.events[0])
    fold.add(script.events[1])
    before = fold.view()
    fold.add(script.events[2])
    after = fold.view()
    assert before.runs["r"].is_open
    assert not after.runs["r"].is_open
    assert after.runs["q"] is before.runs["q"]
    assert before != after
    assert after == script.view()
    assert before != "another kind of value"
    assert repr(after) == "<StreamView of 2 runs, 1 open>"


def test_news_from_another_run_reaches_a_run_that_is_quiet() -> None:
    """An answer and a refusal on other runs show on a run to which nothing more came itself."""
    fold = StreamFold()
    script = Script().tell("r", "decision.requested").tell("a", "decision.answered", optionId="deny")
    script.tell("relay", "capture.refused", sourceRunId="r")
    fold.add(script.events[0])
    assert fold.view().runs["r"].decisions[0].is_open
    fold.add(script.events[1])
    assert not fold.view().runs["r"].decisions[0].is_open
    fold.add(script.events[2])
    assert len(fold.view().runs["r"].refusals) == 1


def test_runs_are_values() -> None:
    """A run can be hashed, pickled and turned into plain data."""
    script = Script()
    for event_type in MINIMAL:
        script.tell("r", event_type)
    run = script.view().runs["r"]
    assert pickle.loads(pickle.dumps(run)) == run  # noqa: S301 - it was pickled one word before
    assert dataclasses.asdict(run)["event_counts"] == run.event_counts
    assert len({run, script.view().runs["r"]}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.kind = "other"  # type: ignore[misc]  # that it cannot be set is what is tested


SECRET = "narration-that-must-not-be-kept"  # noqa: S105 - a mark to search for

NARRATION: dict[str, dict[str, Any]] = {
    "run.started": {"unknownField": SECRET, "ceilings": {"unknownField": SECRET}},
    "run.finished": {"reason": SECRET},
    "agent.text": {"text": SECRET},
    "agent.tool_use": {"inputExcerpt": SECRET, "toolUseId": "u"},
    "agent.tool_result": {"resultExcerpt": SECRET, "toolUseId": "u"},
    "agent.warning": {"message": SECRET},
    "control.requested": {"text": SECRET},
    "control.applied": {"reason": SECRET},
    "capture.refused": {"detail": SECRET},
    "decision.requested": {
        "dossier": {
            "question": SECRET,
            "optionsRuledOut": [SECRET],
            "recommendedAction": SECRET,
            "blastRadius": SECRET,
        },
        "options": [{"id": "deny", "label": SECRET}],
    },
}


def test_narration_is_not_kept() -> None:
    """Neither the fold nor the view holds a text, an excerpt, a reason, a warning, a dossier, a label or a detail."""
    script = Script()
    for event_type in [*MINIMAL, "x.unknown"]:
        script.tell("r", event_type, **NARRATION.get(event_type, {"unknownField": SECRET}))
    fold = StreamFold()
    for event in script.events:
        fold.add(event)
    view = fold.view()
    assert SECRET.encode() in pickle.dumps(script.events)
    assert SECRET.encode() not in pickle.dumps([fold, list(view.runs.values()), view.unmatched_answers])


def test_a_view_has_no_hash() -> None:
    """A view is compared by its runs, so it is no key."""
    with pytest.raises(TypeError):
        hash(StreamView({}))


def test_payload_classes_make_streams() -> None:
    """What the typed drafts write is what the fold reads."""
    start = RunStarted(kind="session", actor="ada", harness="mine").draft()
    finish = RunFinished(outcome="completed", duration_ms=3).draft()
    events = [Event(one.type, "r", seq, "t", one.payload) for seq, one in enumerate((start, finish), start=1)]
    assert fold_stream(events).runs["r"].outcome == "completed"
