"""`ethogram-relay check`: judges JSON Lines of stamped events as the relay would, with no broker."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from ethogram import ParseError, parse_envelope
from relay.exit_codes import ExitCode
from relay.judge.judge import SourceRules, judge
from relay.judge.run_state import RunState
from relay.judge.verdict import Cause
from relay.records import SourceRecord

_RECORD_BYTES_MAX: Final = 1_048_588
"""The default `max.message.bytes` of a topic."""
_NOTHING_RESERVED: Final = "\ud800"
"""A file may hold a relay's own run like any other; no run id that was parsed begins with a lone surrogate."""


def check_files(files: Sequence[str], out: TextIO, *, enforce: bool, advance: bool) -> ExitCode:
    """Judge files, one after the other, as one source.

    Args:
        files: Paths; `-` for standard input.
        out: Where refusals are written, one JSON object a line: the file and line number, and the payload of the
            `capture.refused` that the relay would publish; then a summary line.
        enforce: `validation: enforce`.
        advance: `after_refusal: advance`.

    Returns:
        OK, FOUND if anything was refused, USAGE for a file that cannot be read.
    """
    rules = SourceRules.of(
        "check", _NOTHING_RESERVED, _RECORD_BYTES_MAX, _RECORD_BYTES_MAX, enforce=enforce, advance=advance
    )
    runs: dict[str, RunState] = {}
    causes: Counter[str] = Counter()
    findings = 0
    for name in files:
        try:
            opened = _opened(name)
        except OSError as error:
            sys.stderr.write(f"{name}: expected a readable file, got: {error.strerror}\n")
            return ExitCode.USAGE
        with opened as lines:
            found, refused = _check_lines(name, lines, rules, runs, out)
        findings += found
        causes.update(refused)
    refused_count = sum(causes[cause.value] for cause in Cause)
    by_cause = ", ".join(f"{cause.value} {causes[cause.value]}" for cause in Cause)
    judged = causes.total()
    out.write(f"check: judged {judged}, forwarded {causes['forwarded']}, refused {refused_count} ({by_cause})")
    out.write(f", invalid but forwarded {findings}\n" if findings else "\n")
    open_count = sum(not state.finished for state in runs.values())
    out.write(f"check: {len(runs)} runs, {open_count} of them open\n")
    return ExitCode.FOUND if refused_count else ExitCode.OK


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    """A file, or standard input, which is left open for whoever names it again."""
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def _check_lines(
    name: str, lines: Iterable[bytes], rules: SourceRules, runs: dict[str, RunState], out: TextIO
) -> tuple[int, Counter[str]]:
    """Judge one file's lines; returns how many invalid ones were let pass, and counts by outcome."""
    outcomes: Counter[str] = Counter()
    findings = 0
    for number, line in enumerate(lines, start=1):
        value = line.rstrip(b"\n").removesuffix(b"\r")
        if not value:
            continue
        judgement = judge(SourceRecord(rules.source, 0, number, 0, _key_of(value), value, None), runs, rules)
        if judgement.next_state is not None:
            runs[judgement.run_id] = judgement.next_state
        findings += judgement.finding is not None
        refusal = judgement.refusal
        outcomes["forwarded" if refusal is None else refusal.cause.value] += 1
        if refusal is not None:
            entry = {"file": name, "line": number, "refused": refusal.draft.payload}
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return findings, outcomes


def _key_of(value: bytes) -> bytes | None:
    """A file has no keys: take the one that a producer would have given."""
    try:
        return parse_envelope(value).run_id.encode()
    except ParseError as error:
        return None if error.run_id is None else error.run_id.encode()
