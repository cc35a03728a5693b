"""Waits until its starter is gone, then stops the cluster that the starter would have stopped.

Usage: python -m deploy.kafka.kafka_local.watcher FOLDER, with a pipe from the starter as standard input.
"""

import sys
from pathlib import Path

from deploy.kafka.kafka_local.state import stop


def main(arguments: list[str]) -> None:
    """Read the pipe to its end, which the kernel makes when the starter dies, however it dies."""
    sys.stdin.buffer.read()
    stop(Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
