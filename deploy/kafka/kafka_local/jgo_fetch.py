"""Resolves Maven coordinates into a folder with jgo; a process of its own, so that its threads and logs stay apart.

Usage: python -m deploy.kafka.kafka_local.jgo_fetch FOLDER COORDINATE...
"""

import sys
from pathlib import Path

import jgo
from jgo.maven import PythonResolver


def main(arguments: list[str]) -> None:
    """Resolve the coordinates; the jars lie somewhere under the folder afterwards."""
    folder, *coordinates = arguments
    jgo.build("+".join(coordinates), resolver=PythonResolver(), cache_dir=Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
