"""The configuration as one frozen value, with every fault of a file and its environment in one report.

The file is YAML; `RELAY_…` environment variables lie over it (`relay.environment`). Kafka settings pass through under
their own dotted names, but for those that exactly-once rests on (`relay.kafka_settings`).
"""

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from relay.environment import overlay
from relay.errors import ConfigError
from relay.kafka_settings import setting_faults

_DURATION: Final = re.compile(r"(\d+)(ms|s|m|h|d)", re.ASCII)
_UNIT_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
BACKLOG_INTERVALS: Final = 3
"""With a backlog a transaction gathers for so many intervals: nothing is timely then, and each commit costs a pause."""
TRANSACTION_TIMEOUT_MS: Final = 15_000
"""The relay's default of `transaction.timeout.ms`."""
_DAY_MS: Final = 86_400_000
_TOPIC: Final = r"^[a-zA-Z0-9._-]{1,249}$"


def _duration_ms(value: object) -> int:
    """Read `24h`, `7d`, `500ms` and the like as milliseconds."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError("duration", "a duration with its unit, such as 30s, 24h or 7d")
    return int(match[1]) * _UNIT_MS[match[2]]


DurationMs = Annotated[int, BeforeValidator(_duration_ms), Field(ge=1)]
"""A duration, written with its unit (`ms`, `s`, `m`, `h`, `d`), held in milliseconds."""

TopicName = Annotated[str, Field(pattern=_TOPIC)]


class _Section(BaseModel):
    """A closed, frozen section: an unknown key is a fault, and `"5"` is not a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RelaySection(_Section):
    """`relay:`, the service itself."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,100}$")] = "ethogram-relay"
    """Consumer group, prefix of the transactional identity, and actor of the own run."""
    unified_topic: TopicName
    """Where every event goes."""
    instance_id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,100}$")] = Field(
        default_factory=lambda: re.sub(r"[^a-zA-Z0-9._-]", "-", socket.gethostname())[:100] or "relay"
    )
    """Unique in the group; default the host name."""
    changelog_topic: TopicName | None = None
    """Run states; default `<name>.changelog`."""
    relays_topic: TopicName | None = None
    """Open own runs of all instances; default `<name>.relays`."""
    quarantine_topic: TopicName | None = None
    """Refused bytes; default `<name>.quarantine`."""
    commit_interval_ms: Annotated[int, Field(ge=1, le=10_000)] = 100
    """How long a transaction gathers records; three times as long while there is a backlog."""
    commit_records_max: Annotated[int, Field(ge=1, le=1_000_000)] = 50_000
    """The most records of one transaction."""
    commit_bytes_max: Annotated[int, Field(ge=1024, le=1 << 30)] = 64 << 20
    """The most bytes of values in one transaction."""
    own_run_max_age: DurationMs = _DAY_MS
    """An own run is ended and a new one begun at this age."""
    forget_finished_after: DurationMs = 7 * _DAY_MS
    """Finished runs are forgotten so long after their last change."""
    forget_idle_after: DurationMs = 30 * _DAY_MS
    """Open runs are forgotten so long after their last change."""
    drain_timeout: DurationMs = 20_000
    """The whole budget of a stop: last transaction, own run, leaving."""
    revoke_timeout: DurationMs = 5_000
    """The budget of a transaction that a rebalance forces to its end."""
    transaction_call_timeout: DurationMs = 10_000
    """The bound of one commit or abort; past it the outcome counts as unknown and is read back."""
    start_up_timeout: DurationMs = 60_000
    """How long the cluster may take to answer at the start."""


class SourceSection(_Section):
    """One entry of `sources:`."""

    topic: TopicName
    validation: Literal["enforce", "report"] = "enforce"
    """Refuse what `validate` reports, or forward it and count it."""
    after_refusal: Literal["hold", "advance"] = "hold"
    """Keep a run's cursor at a refused event, or let the refused event take its number."""
    partitioner: Literal["any", "murmur2"] = "any"
    """`murmur2` makes a record outside the Java client's partition malformed."""


class HttpSection(_Section):
    """`http:`, where metrics and probes are served."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 9464
    """0 lets the system choose."""


class _File(_Section):
    """The whole file."""

    relay: RelaySection
    sources: Annotated[tuple[SourceSection, ...], Field(min_length=1, strict=False)]
    kafka: dict[str, str | int | float | bool]
    http: HttpSection = HttpSection()


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of the topics that the relay writes."""

    unified: str
    changelog: str
    relays: str
    quarantine: str

    def all(self) -> tuple[str, str, str, str]:
        """The four names, the unified topic first."""
        return self.unified, self.changelog, self.relays, self.quarantine


@dataclass(frozen=True, slots=True)
class Config:
    """A relay's whole configuration."""

    relay: RelaySection
    sources: tuple[SourceSection, ...]
    kafka: Mapping[str, str | int | float | bool]
    http: HttpSection

    @property
    def topics(self) -> Topics:
        """The names of the topics that the relay writes, defaults filled in."""
        relay = self.relay
        return Topics(
            unified=relay.unified_topic,
            changelog=relay.changelog_topic or f"{relay.name}.changelog",
            relays=relay.relays_topic or f"{relay.name}.relays",
            quarantine=relay.quarantine_topic or f"{relay.name}.quarantine",
        )

    @property
    def source_topics(self) -> tuple[str, ...]:
        """The source topics in the file's order."""
        return tuple(source.topic for source in self.sources)

    @property
    def identity(self) -> str:
        """The transactional identity, `<name>/<instance>`."""
        return f"{self.relay.name}/{self.relay.instance_id}"


def load_config(path: Path, environment: Mapping[str, str]) -> Config:
    """Read a configuration file with the environment over it.

    Args:
        path: The YAML file.
        environment: The process environment; only `RELAY_…` is looked at.

    Returns:
        The configuration.

    Raises:
        ConfigError: With every fault found, each as path, wanted, got.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError([f"{path}: expected a readable file, got {error.strerror}"]) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        place = getattr(error, "problem_mark", None)
        where = f"{path}:{place.line + 1}:{place.column + 1}" if place else str(path)
        raise ConfigError([f"{where}: expected YAML in UTF-8"]) from error
    return parse_config(tree, environment)


def parse_config(tree: object, environment: Mapping[str, str]) -> Config:
    """Check a configuration that was read from YAML, with the environment over it.

    Args:
        tree: What the YAML held.
        environment: The process environment; only `RELAY_…` is looked at.

    Returns:
        The configuration.

    Raises:
        ConfigError: With every fault found.
    """
    if not isinstance(tree, dict):
        raise ConfigError([f"the file: expected a mapping with relay, sources and kafka, got {_kind(tree)}"])
    merged, origins, faults = overlay(tree, environment)
    try:
        file = _File.model_validate(merged)
    except ValidationError as error:
        found = [_fault(dict(detail), origins) for detail in error.errors(include_url=False)]
        if any(fault.startswith("sources[") for fault in found):
            # A list whose entries are refused counts as empty too: that is no second fault.
            found = [fault for fault in found if not fault.startswith("sources: expected at least one")]
        raise ConfigError(faults + list(dict.fromkeys(found)) + _kafka_faults(merged, origins)) from None
    config = Config(file.relay, file.sources, file.kafka, file.http)
    faults += _kafka_faults(merged, origins) + _topic_faults(config)
    if not faults:
        faults += _time_faults(config)
    if faults:
        raise ConfigError(faults)
    return config


def _kafka_faults(merged: Mapping[str, object], origins: Mapping[str, str]) -> list[str]:
    """Kafka settings that may not be set, found whatever else is wrong with the file."""
    section = merged.get("kafka")
    return setting_faults(section, origins) if isinstance(section, dict) else []


def _time_faults(config: Config) -> list[str]:
    """A transaction that gathers for too long would outlive its time-out, and the broker would fence the relay."""
    timeout_ms = int(config.kafka.get("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS))
    longest_ms = timeout_ms // (2 * BACKLOG_INTERVALS)
    if config.relay.commit_interval_ms <= longest_ms:
        return []
    wanted = f"at most {longest_ms}, a sixth of kafka.transaction.timeout.ms ({timeout_ms})"
    return [f"relay.commit_interval_ms: expected {wanted}, got {config.relay.commit_interval_ms}"]


def _topic_faults(config: Config) -> list[str]:
    """Topics that are named twice: a source may not be listed twice, nor be an output, nor two outputs be one."""
    faults = []
    seen: dict[str, str] = {}
    named = [(f"sources[{i}].topic", source.topic) for i, source in enumerate(config.sources)]
    outputs = ("relay.unified_topic", "relay.changelog_topic", "relay.relays_topic", "relay.quarantine_topic")
    for path, topic in named + list(zip(outputs, config.topics.all(), strict=True)):
        if topic in seen:
            faults.append(f"{path}: expected a topic of its own, got {topic}, which is {seen[topic]} already")
        seen.setdefault(topic, path)
    return faults


_WANTED: Final = {
    "missing": "a value",
    "extra_forbidden": "no such key",
    "int_type": "an integer",
    "string_type": "text",
    "bool_type": "true or false",
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "too_short": "at least one entry",
    "string_pattern_mismatch": "a name of letters, digits, '.', '_' and '-'",
}


def _fault(detail: dict[str, Any], origins: Mapping[str, str]) -> str:
    """One fault as path, wanted and got. Values of `kafka:` may be secrets and are never shown."""
    steps = [step for step in detail["loc"] if not (isinstance(step, str) and step in {"str", "int", "float", "bool"})]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    secret = bool(steps) and steps[0] == "kafka"
    wanted = _WANTED.get(detail["type"])
    if wanted is None or (secret and len(steps) > 1):
        wanted = "text, a number, true or false" if secret else _wanted_of(detail)
    got = "nothing" if detail["type"] == "missing" else _kind(detail["input"]) if secret else _shown(detail["input"])
    if detail["type"] == "extra_forbidden":
        got = "an unknown key"
    return f"{origins.get(path, path)}: expected {wanted}, got {got}"


def _wanted_of(detail: dict[str, Any]) -> str:
    """Say bounds and choices as pydantic knows them."""
    context = detail.get("ctx", {})
    if "expected" in context:
        return str(context["expected"])
    for name, words in (("ge", "at least"), ("le", "at most"), ("gt", "more than"), ("lt", "less than")):
        if name in context:
            return f"{words} {context[name]}"
    return str(detail["msg"]).lower()


def _shown(value: object) -> str:
    """A configured value, short."""
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f"text of {len(value)} characters"  # noqa: PLR2004 - fits a line
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return _kind(value)


def _kind(value: object) -> str:
    """What kind of YAML value it is, without showing it."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)
