"""Suppressions carry their code and a reason; log lines are structured."""

import ast
import re
from collections.abc import Iterator

from tests.house.tree import Module, modules, report

_NOQA = re.compile(
    r"#\s*noqa(?P<codes>:\s*[A-Z]+[0-9]+(?:\s*,\s*[A-Z]+[0-9]+)*)?(?P<reason>\s+(?:-|#)\s+\S.*)?", re.IGNORECASE
)
_IGNORE = re.compile(r"#\s*type:\s*ignore(?P<codes>\[[a-z, -]+\])?(?P<reason>\s+#\s*\S.*)?")
_EVENT = re.compile(r"[a-z_]+\.[a-z_]+")
_LOG_METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
_LOGS = {"log", "_log", "logger", "_logger"}


def suppressions(module: Module) -> Iterator[tuple[int, str, bool]]:
    """Line, code and whether a reason stands there, of each suppression; an empty code where it has none."""
    for line, comment in module.comments():
        for pattern in (_NOQA, _IGNORE):
            match = pattern.search(comment)
            if match is None:
                continue
            codes = re.findall(r"[A-Za-z][A-Za-z0-9-]*", match["codes"] or "") or [""]
            for code in codes:
                yield line, code, match["reason"] is not None


def statement_at(module: Module, line: int) -> int:
    """The first line of the innermost statement around a line."""
    first = 1
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            first = max(first, node.lineno)
    return first


def test_suppressions_carry_code_and_reason() -> None:
    """Each `noqa` and `type: ignore` names its code and says why, there or earlier in the same statement."""
    findings = []
    for module in modules():
        found = list(suppressions(module))
        reasoned = {(statement_at(module, line), code) for line, code, reason in found if reason}
        for line, code, reason in found:
            if not code:
                findings.append(module.at(line, "name the code: # noqa: CODE - reason, # type: ignore[code]  # reason"))
            elif not reason and (statement_at(module, line), code) not in reasoned:
                findings.append(module.at(line, f"say why {code} is let pass: a reason behind the code"))
    assert not findings, report(findings)


def test_suppressions_are_read_as_they_are_written() -> None:
    """The reading takes both forms, several codes, and a missing reason or code for what it is."""

    def read(comment: str) -> list[tuple[str, bool]]:
        module = Module(modules()[0].path, f"x = 1  {comment}\n")
        return [(code, reason) for _line, code, reason in suppressions(module)]

    assert read("# noqa: S101") == [("S101", False)]
    assert read("# noqa: S101, PLR2004 - why") == [("S101", True), ("PLR2004", True)]
    assert read("# noqa") == [("", False)]
    assert read("# type: ignore[arg-type]") == [("arg-type", False)]
    assert read("# type: ignore[arg-type]  # why") == [("arg-type", True)]
    assert read("# type: ignore") == [("", False)]
    assert read("# says nothing") == []


def log_calls() -> Iterator[tuple[Module, ast.Call]]:
    """Every call of a log's method."""
    for module in modules("ethogram", "relay"):
        for node in ast.walk(module.syntax):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            target = node.func.value
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if node.func.attr in _LOG_METHODS and name in _LOGS:
                yield module, node


def test_log_lines_are_structured() -> None:
    """A log call names its event as `noun.past_tense`, a plain text, and gives the rest as fields: no f-strings."""
    findings, count = [], 0
    for module, call in log_calls():
        count += 1
        event = call.args[0] if call.args else None
        if not isinstance(event, ast.Constant) or not _EVENT.fullmatch(str(event.value)) or len(call.args) > 1:
            findings.append(module.at(call.lineno, 'log("noun.past_tense", field=value, …)'))
        if any(isinstance(node, ast.JoinedStr) for node in ast.walk(call)):
            findings.append(module.at(call.lineno, "give values as fields, not in an f-string"))
    assert not findings, report(findings)
    assert count >= 10
