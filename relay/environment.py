"""`RELAY_…` environment variables, laid over the configuration file.

| variable | lies over |
| --- | --- |
| `RELAY_COMMIT_INTERVAL_MS` | `relay.commit_interval_ms`, and so every key of `relay:` |
| `RELAY_HTTP_PORT` | `http.port`, and so every key of `http:` |
| `RELAY_KAFKA_BOOTSTRAP_SERVERS` | `kafka."bootstrap.servers"`: an underscore for each dot |
| `RELAY_SOURCES` | `sources`, a YAML list |
| any of them with `_FILE` behind it | the same, read from the file that it names, for secrets |

Values are read as YAML, except those of `kafka:`, which are taken as text.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

_PREFIX: Final = "RELAY_"
_FILE: Final = "_FILE"
_INJECTED: Final = re.compile(r"RELAY_(SERVICE_(HOST|PORT)(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_.*)?)?)")
"""What Kubernetes sets in every pod beside a Service that is called `relay`; not ours."""
_UNDERSCORED: Final = frozenset({"log_level"})
"""Client settings whose own names hold an underscore."""


def overlay(
    tree: Mapping[Any, object], environment: Mapping[str, str]
) -> tuple[dict[str, object], dict[str, str], list[str]]:
    """Lay the environment over a configuration tree.

    Args:
        tree: The file's mapping; not changed.
        environment: The process environment.

    Returns:
        The merged mapping; for each path that came from a variable, that variable's name (for error messages); and
        faults of the variables themselves.
    """
    merged: dict[str, object] = {
        str(name): dict(section) if isinstance(section, dict) else section for name, section in tree.items()
    }
    origins: dict[str, str] = {}
    faults: list[str] = []
    for variable in sorted(environment):
        if not variable.startswith(_PREFIX) or _INJECTED.fullmatch(variable):
            continue
        plain = variable.removesuffix(_FILE)
        text = environment[variable]
        if plain != variable:
            if plain in environment:
                faults.append(f"{variable}: expected either {plain} or {variable}, got both")
                continue
            try:
                text = Path(text).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError):
                faults.append(f"{variable}: expected the path of a readable UTF-8 file, got one that cannot be read")
                continue
        section, key = _place(plain.removeprefix(_PREFIX))
        value = text if section == "kafka" else _scalar(text)
        _put(merged, section, key, value)
        origins[f"{section}.{key}" if key else section] = variable
    return merged, origins, faults


def _place(name: str) -> tuple[str, str]:
    """Which section and key a variable (without its prefix) lies over; the key is empty for `sources`."""
    lower = name.lower()
    if lower == "sources":
        return "sources", ""
    if lower.startswith("http_"):
        return "http", lower.removeprefix("http_")
    if lower.startswith("kafka_"):
        setting = lower.removeprefix("kafka_")
        return "kafka", setting if setting in _UNDERSCORED else setting.replace("_", ".")
    return "relay", lower


def _scalar(text: str) -> object:
    """Read a value as YAML would; what is not YAML is text, and the type check speaks of it."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _put(merged: dict[str, object], section: str, key: str, value: object) -> None:
    if not key:
        merged[section] = value
        return
    entries = merged.setdefault(section, {})
    if isinstance(entries, dict):
        entries[key] = value
