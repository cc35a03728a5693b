"""The kit against bare orjson on the same bytes: parsing, validating, serialising."""

import os
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Final

import orjson

from ethogram import Event, parse_event, read_payload, serialise_event, validate

_REPEATS: Final = 5

_GOALS: Final = {"parse_event / orjson.loads": 4, "serialise_event / orjson.dumps sorted": 3}

Action = Callable[[], object]


def kit_ratios() -> None:
    """Print each ratio with the microseconds behind it."""
    lines, said = _events()
    events = [parse_event(line) for line in lines]
    trees = [event.to_dict() for event in events]
    sys.stdout.write(f"ethogram against orjson, {len(lines)} events, {said}\n")
    ours_and_theirs: dict[str, tuple[Action, Action]] = {
        "parse_event / orjson.loads": (
            lambda: [parse_event(line) for line in lines],
            lambda: [orjson.loads(line) for line in lines],
        ),
        "serialise_event / orjson.dumps sorted": (
            lambda: [serialise_event(event) for event in events],
            lambda: [orjson.dumps(tree, option=orjson.OPT_SORT_KEYS) for tree in trees],
        ),
        "validate / walk of the payload": (
            lambda: _validate_all(events),
            lambda: [_walk(event.payload) for event in events],
        ),
        "read_payload / parse_event": (
            lambda: [read_payload(event) for event in events],
            lambda: [parse_event(line) for line in lines],
        ),
    }
    for name, (ours, theirs) in ours_and_theirs.items():
        mine, bare = _best_us(ours, len(lines)), _best_us(theirs, len(lines))
        goal = f"; goal: at most {_GOALS[name]}" if name in _GOALS else ""
        sys.stdout.write(f"  {name}: ratio {mine / bare:.2f} ({mine:.2f} us, {bare:.2f} us an event{goal})\n")


def _events() -> tuple[list[bytes], str]:
    """The captures where they are, else made events."""
    folder = os.environ.get("ETHOGRAM_TEST_DATA")
    if folder:
        files = sorted(Path(folder).glob("captures/*/*/events.jsonl"))
        return [line for file in files for line in file.read_bytes().splitlines()], "the captures"
    made = [
        f'{{"v":1,"type":"agent.text","runId":"run-1","seq":{n},"ts":"2026-01-01T00:00:00.000Z",'
        f'"payload":{{"text":"{"word " * (n % 200)}"}}}}'.encode()
        for n in range(1, 2001)
    ]
    return made, "made here (ETHOGRAM_TEST_DATA is not set)"


def _validate_all(events: list[Event]) -> None:
    for event in events:
        validate(event.type, event.payload)


def _walk(value: object) -> int:
    """Visit every value, as any check of a payload must."""
    if isinstance(value, dict):
        return sum(_walk(member) for member in value.values())
    if isinstance(value, list):
        return sum(_walk(member) for member in value)
    return 1


def _best_us(action: Action, count: int) -> float:
    return min(timeit.repeat(action, number=1, repeat=_REPEATS)) / count * 1e6
