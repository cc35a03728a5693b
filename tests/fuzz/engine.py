"""The one place that knows atheris: what a child process runs.

Atheris is loaded by name, since it is installed for `make fuzz` alone; the tests and the type checker do without it.
"""

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, cast


class Atheris(Protocol):
    """What is used of it, with its own names."""

    def instrument_imports(self, include: list[str]) -> AbstractContextManager[None]:
        """Instrument what is imported within."""

    def Setup(self, argv: list[str], test_one_input: Callable[[bytes], None]) -> list[str]:  # noqa: N802 - its name
        """Take libFuzzer's arguments and the target."""

    def Fuzz(self) -> None:  # noqa: N802 - its name
        """Fuzz; ends the process."""


def main(argv: list[str]) -> None:
    """Fuzz one target with the kit instrumented.

    Args:
        argv: the target's name, a planted bug's name or nothing, then libFuzzer's own arguments.
    """
    target_name, plant_name, *arguments = argv
    atheris = cast("Atheris", importlib.import_module("atheris"))
    with atheris.instrument_imports(include=["ethogram"]):
        targets = importlib.import_module("tests.fuzz.targets")
    if plant_name:
        plant = importlib.import_module("tests.fuzz.plants").PLANTS[plant_name]
        setattr(plant.owner, plant.attribute, plant.bug)
    atheris.Setup([sys.argv[0], *arguments], targets.TARGETS[target_name])
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
