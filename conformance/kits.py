"""What a kit is to the runner: something that gives a verdict on a case, or stands in its own way.

Spec: The founding decision: two implementations, one corpus
"""

from collections.abc import Mapping
from typing import Any, Protocol

from conformance.adapters import ADAPTERS, Adapter
from conformance.compare import shorten
from conformance.vectors import Vector


class KitFault(Exception):
    """A kit gave no verdict on a case; the text says what stood in the way, on one line."""


class Kit(Protocol):
    """An implementation of the protocol, in this process or in another."""

    def judge(self, vector: Vector) -> dict[str, Any]:
        """Give the kit's verdict on a case, in the shape of its `expect`.

        Raises:
            KitFault: there is none.
        """

    def close(self) -> None:
        """Let the kit go."""


class OwnKit:
    """This repository's kit, in this process."""

    def __init__(self, adapters: Mapping[str, Adapter] = ADAPTERS) -> None:
        """Take the operations that are known, by name."""
        self._adapters = adapters

    def judge(self, vector: Vector) -> dict[str, Any]:
        """Give the kit's verdict on a case.

        Raises:
            KitFault: no adapter has the operation, or an error escaped the kit.

        Spec: The founding decision: two implementations, one corpus
        """
        adapter = self._adapters.get(vector.op)
        if adapter is None:
            raise KitFault(f"no adapter for the operation {shorten(vector.op, 60)}")
        try:
            return adapter(vector.input)
        except Exception as error:  # Whatever escapes is this case's failure, not the run's end.
            raise KitFault(f"{type(error).__name__} escaped: {shorten(str(error))}") from error

    def close(self) -> None:
        """There is nothing to let go."""
