"""Replays of the handwritten inputs, and of the shared vectors and captures where a machine has them."""

import io
import os
from pathlib import Path

import pytest

import ethogram
from conformance.adapters import ADAPTERS
from conformance.runner import run
from conformance.vectors import read_vectors

HANDWRITTEN = Path(__file__).parents[2] / "conformance" / "handwritten"
TEST_DATA_NAME = "ETHOGRAM_TEST_DATA"


def shared_data() -> Path:
    """The folder of shared test data."""
    if TEST_DATA_NAME not in os.environ:
        pytest.skip(f"{TEST_DATA_NAME} is not set: the shared vectors and captures are not here")
    return Path(os.environ[TEST_DATA_NAME])


def replay(path: Path) -> None:
    """Replay a folder and fail with its report."""
    out = io.StringIO()
    assert run([path], out) == 0, out.getvalue()


def test_handwritten_inputs_agree() -> None:
    """Every handwritten input gets the verdict that the specification gives it."""
    replay(HANDWRITTEN)


def test_handwritten_inputs_exercise_every_operation() -> None:
    """No operation of the runner is without a handwritten input, and no two share an id."""
    vectors = [vector for path in HANDWRITTEN.rglob("*.jsonl") for vector in read_vectors(path)]
    assert {vector.op for vector in vectors} == ADAPTERS.keys()
    assert len({vector.id for vector in vectors}) == len(vectors)


def test_shared_vectors_agree() -> None:
    """Every shared vector gets the verdict it expects; other verdicts that would be let pass are not taken."""
    replay(shared_data() / "vectors" / "ethogram")


def test_captures_round_trip() -> None:
    """Every captured event is canonical as stored, valid, and of a gapless run that folds."""
    paths = sorted((shared_data() / "captures").glob("*/*/events.jsonl"))
    assert paths
    for path in paths:
        lines = path.read_bytes().splitlines(keepends=True)
        events = [ethogram.parse_event(line.removesuffix(b"\n")) for line in lines]
        assert [ethogram.serialise_event(event) + b"\n" for event in events] == lines
        for event, line in zip(events, lines, strict=True):
            ethogram.validate(event.type, event.payload)
            ethogram.validate_event(event, len(line))
        view = ethogram.fold_run(events)
        assert view is not None
        assert not view.is_open
        assert ethogram.prove_gapless(events) == {view.run_id: len(events)}
