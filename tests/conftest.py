"""Fixtures and reports for every test: the real broker, topic names, and the seed."""

import os
import random
import re
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.kafka import KafkaBroker, NoBrokerError, acquire_broker

BROKER_KEY = pytest.StashKey[KafkaBroker]()
SEED_KEY = pytest.StashKey[int]()
REPORT_ENV_NAME = "ETHOGRAM_BROKER_REPORT"
SEED_ENV_NAME = "ETHOGRAM_SEED"
SEED_BITS = 32
NAME_CHARACTERS_MAX = 60


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    """A real broker, shared by the session; its kind is in the session's summary."""
    with ExitStack() as stack:
        reason, broker = "", None
        try:
            broker = acquire_broker(stack)
        except NoBrokerError as error:
            reason = str(error)
        if broker is None:  # Not in the handler: the report would then tell of two exceptions.
            pytest.fail(reason, pytrace=False)
        request.config.stash[BROKER_KEY] = broker
        yield broker


@pytest.fixture
def topic_prefix(request: pytest.FixtureRequest) -> str:
    """A prefix for topics, groups and identities that no other test uses, such as `fences-1a2b3c4d-`."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name.removeprefix("test_"))[:NAME_CHARACTERS_MAX].strip("-")
    return f"{name}-{uuid.uuid4().hex[:8]}-"


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """The session's seed, drawn or given by `ETHOGRAM_SEED`; the summary names it."""
    given = os.environ.get(SEED_ENV_NAME)
    if given is not None and not given.isdecimal():
        pytest.fail(f'{SEED_ENV_NAME}: expected an integer from 0, got "{given}"', pytrace=False)
    drawn = int(given) if given is not None else random.SystemRandom().getrandbits(SEED_BITS)
    request.config.stash[SEED_KEY] = drawn
    return drawn


@pytest.fixture
def rng(request: pytest.FixtureRequest, seed: int) -> random.Random:
    """Random numbers from the session's seed and the test's name, so that a test draws the same whatever else runs."""
    print(f"seed: {seed}")  # noqa: T201 - pytest shows it with a failure
    return random.Random(f"{seed} {request.node.nodeid}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever asks for the broker, so that leaving such tests out needs no discipline."""
    for item in items:
        if "kafka" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.broker)


def broker_line(config: pytest.Config) -> str:
    """Say which broker the session used."""
    broker = config.stash.get(BROKER_KEY, None)
    return f"broker: {broker.describe()}" if broker else "broker: none was needed"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the broker's line where the caller wants it, so that it can insist on a real one."""
    if path := os.environ.get(REPORT_ENV_NAME):
        Path(path).write_text(broker_line(session.config) + "\n", encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the broker and the seed at the end, whatever came out."""
    terminalreporter.write_line(broker_line(config))
    if (drawn := config.stash.get(SEED_KEY, None)) is not None:
        terminalreporter.write_line(f"seed: {drawn} (set {SEED_ENV_NAME}={drawn} to replay)")
