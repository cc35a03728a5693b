"""The shared series of appends, through every sink."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ethogram
from conformance.compare import agree
from conformance.vectors import Vector, read_vectors
from tests.contract.sinks import KINDS, AnySink, close

DATA_ENV_NAME = "ETHOGRAM_TEST_DATA"
HANDWRITTEN = Path(__file__).parents[2] / "conformance" / "handwritten"


def append(sink: AnySink, one: dict[str, Any]) -> dict[str, Any]:
    """The outcome of one append, in the vectors' words."""
    try:
        event = sink.append_draft(one["runId"], one["draft"]) if "draft" in one else sink.append_event(one["event"])
    except ethogram.ParseError:
        return {"error": "rejected"}
    except ethogram.SequenceError as error:
        fields = {"runId": error.run_id, "expected": error.expected, "received": error.received}
        return {"error": "SequenceError", **fields}
    except ethogram.RunClosedError as error:
        return {"error": "RunClosedError", "runId": error.run_id}
    canonical = ethogram.serialise_event(event).decode()
    return {"accepted": True, "seq": event.seq, "ts": event.ts, "canonical": canonical}


def replay(make: Callable[..., AnySink], folder: Path, vectors: list[Vector]) -> list[str]:
    """The ids of the vectors that a fresh sink each does not agree with."""
    failed = []
    for number, vector in enumerate(vectors):
        place = folder / str(number)
        place.mkdir()
        sink = make(place, lambda clock=vector.input["clock"]: clock)
        outcomes = [append(sink, one) for one in vector.input["appends"]]
        stored = {run_id: len(sink.events(run_id)) for run_id in vector.expect["stored"]}
        close(sink)
        if not agree(vector.expect, {"outcomes": outcomes, "stored": stored}):
            failed.append(vector.id)
    return failed


def vectors_of(*paths: Path) -> list[Vector]:
    """The series of appends in these files."""
    return [vector for path in paths for vector in read_vectors(path) if vector.op == "sink"]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_handwritten_series_agree(make: Callable[..., AnySink], tmp_path: Path) -> None:
    """Every handwritten series has the outcomes that the specification gives it, on every sink."""
    vectors = vectors_of(*sorted(HANDWRITTEN.glob("*.jsonl")))
    assert vectors
    assert replay(make, tmp_path, vectors) == []


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_shared_series_agree(make: Callable[..., AnySink], tmp_path: Path) -> None:
    """Every shared series has its outcomes, on every sink."""
    if DATA_ENV_NAME not in os.environ:
        pytest.skip(f"{DATA_ENV_NAME} is not set: the shared vectors are not here")
    vectors = vectors_of(Path(os.environ[DATA_ENV_NAME]) / "vectors" / "ethogram" / "sink.jsonl")
    assert len(vectors) > 50
    assert replay(make, tmp_path, vectors) == []
