"""Public lists and tables are complete, and in use."""

import ast
import importlib

import ethogram
from relay.config import HttpSection, RelaySection, SourceSection
from relay.telemetry.metrics import METRICS
from tests.house.tree import ROOT, modules, report


def test_the_public_list_is_complete_and_sorted() -> None:
    """`ethogram.__all__` is what `__init__` imports, sorted, each once, and every name is there."""
    (init,) = [module for module in modules("ethogram") if module.name == "ethogram"]
    imported = {
        alias.asname or alias.name
        for node in init.syntax.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(ethogram.__all__) == imported
    assert len(ethogram.__all__) == len(set(ethogram.__all__))
    for name in ethogram.__all__:
        assert hasattr(ethogram, name), f"ethogram/__init__.py:1: {name} cannot be imported"
    # Constants, then classes, then functions, each in the order of its letters, as the formatter sorts.
    kinds = [0 if name.isupper() else 1 if name[0].isupper() else 2 for name in ethogram.__all__]
    assert list(zip(kinds, ethogram.__all__, strict=True)) == sorted(zip(kinds, ethogram.__all__, strict=True))


def test_the_names_that_others_rely_on_are_public() -> None:
    """The names that other parts and users rely on stay in the list."""
    assert {
        "Event",
        "EventDraft",
        "InMemorySink",
        "RunClosedError",
        "SequenceError",
        "ValidationError",
        "excerpt",
        "fold_run",
        "parse_event",
        "refusal_of",
        "serialise_event",
        "serialise_validation_error",
        "stamp",
        "validate",
        "validate_decision_answer",
    } <= set(ethogram.__all__)


def test_the_public_list_holds_no_logic() -> None:
    """`ethogram/__init__.py` is a docstring, imports and the list."""
    (init,) = [module for module in modules("ethogram") if module.name == "ethogram"]
    findings = [
        init.at(node.lineno, "only imports and __all__ stand here")
        for node in init.syntax.body[1:]
        if not isinstance(node, ast.ImportFrom | ast.Assign)
    ]
    assert not findings, report(findings)


def test_every_module_can_be_imported() -> None:
    """Each module of the installed packages imports by itself."""
    for module in modules("ethogram", "relay"):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def test_every_metric_is_used() -> None:
    """Each row of the metric table is set or counted somewhere, by its name."""
    used: set[str] = set()
    for module in modules("relay"):
        for statement in module.syntax.body:
            if isinstance(statement, ast.AnnAssign) and getattr(statement.target, "id", "") == "METRICS":
                continue
            used |= {str(node.value) for node in ast.walk(statement) if isinstance(node, ast.Constant)}
    unused = [row.name for row in METRICS if row.name not in used]
    assert not unused, f"relay/telemetry/metrics.py:1: set or take out: {', '.join(unused)}"


def test_every_metric_means_something() -> None:
    """Each row has a meaning that is a sentence, a name in lower case with its unit, and no name twice."""
    assert all(row.meaning.endswith(".") and row.meaning[0].isupper() for row in METRICS)
    assert all(row.name == row.name.lower() and not row.name.endswith("_total") for row in METRICS)
    assert len({row.name for row in METRICS}) == len(METRICS)


def test_every_setting_is_documented() -> None:
    """Each key of the configuration is explained in `docs/configuration.md`."""
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    keys = {key for section in (RelaySection, SourceSection, HttpSection) for key in section.model_fields}
    missing = sorted(key for key in keys if f"`{key}`" not in text and f"{key}:" not in text)
    assert not missing, f"docs/configuration.md:1: explain {', '.join(missing)}"


def test_the_types_travel_with_the_packages() -> None:
    """Both packages ship the marker of typed packages."""
    for package in ("ethogram", "relay"):
        assert (ROOT / package / "py.typed").is_file()
