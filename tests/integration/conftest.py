"""Every test of this folder needs a real broker; the one that asks the broker for honesty comes first."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
HONESTY = HERE / "test_broker_honesty.py"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this folder's tests, and put the honesty tests before the others."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.broker)
    # A stable sort: with a broker that lies, the first failure should say so.
    items.sort(
        key=lambda item: (item.path.is_relative_to(HERE), item.path.is_relative_to(HERE) and item.path != HONESTY)
    )
