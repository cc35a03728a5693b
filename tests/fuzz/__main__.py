"""`python -m tests.fuzz`: fuzz the kit, one target after the other, each in a process of its own.

Exit code 0: nothing was found. 1: a finding; its input is kept, and how to replay it is printed. 2: wrong usage.
"""

import argparse
import importlib.util
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Final

from tests.fuzz.plants import PLANTS
from tests.fuzz.seeds import ROOT, write_corpus, write_dictionary
from tests.fuzz.targets import TARGETS

_LIMIT_MB: Final = 2048
_INPUT_TIMEOUT_S: Final = 20
_INPUT_BYTES_MAX: Final = 4096
_GRACE_S: Final = 120
"""How long a child may take beyond its time, to load its seeds and to end."""

_STATUS: Final = re.compile(r"^#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+) corp: (\d+)/", re.MULTILINE)


def main(argv: list[str] | None = None) -> int:
    """Fuzz, or replay one input."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="coverage-guided fuzzing of the kit")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together (10)")
    parser.add_argument("--target", choices=TARGETS, action="append", help="only this one; may be given again")
    parser.add_argument("--seed", type=int, help="of the fuzzer's chance; printed, and drawn where it is not given")
    parser.add_argument("--keep", type=Path, help="a folder to keep the grown inputs in, and to go on from")
    parser.add_argument("--replay", type=Path, help="run one input of the one --target, without the fuzzer")
    parser.add_argument("--plant", choices=PLANTS, help="plant a deliberate bug, to see that it is found")
    given = parser.parse_args(argv)
    names = given.target or list(TARGETS)
    if given.replay is not None:
        if len(names) != 1:
            parser.error("--replay: expected exactly one --target beside it")
        return _replay(names[0], given.replay, given.plant)
    if given.minutes <= 0:
        parser.error(f"--minutes: expected more than 0, got {given.minutes}")
    if importlib.util.find_spec("atheris") is None:
        parser.error("expected atheris to be installed; `make fuzz` installs it")
    seed = given.seed if given.seed is not None else random.randrange(1, 2**31)
    # Kept where something was found, else removed: what the fuzzer grows is no part of the tree.
    folder = Path(tempfile.mkdtemp(prefix="ethogram-fuzz-"))
    found = [name for name in names if _fuzz(name, given, seed, folder, given.minutes * 60 / len(names))]
    if not found:
        shutil.rmtree(folder)
    _say(f"found something in: {', '.join(found)}" if found else "found nothing")
    return 1 if found else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _replay(name: str, path: Path, plant_name: str | None) -> int:
    if plant_name is not None:
        plant = PLANTS[plant_name]
        setattr(plant.owner, plant.attribute, plant.bug)
    try:
        TARGETS[name](path.read_bytes())
    except Exception:  # noqa: BLE001 - whatever comes out of a target is what was looked for
        _say(traceback.format_exc().rstrip())
        return 1
    _say(f"{name}: this input finds nothing")
    return 0


def _fuzz(name: str, given: argparse.Namespace, seed: int, folder: Path, time_s: float) -> bool:
    """Fuzz one target in a child process and print what it reached; gives whether it found something."""
    corpus = given.keep / name if given.keep is not None else folder / f"corpus-{name}"
    seeds_count = write_corpus(name, folder / f"seeds-{name}")
    corpus.mkdir(parents=True, exist_ok=True)
    dictionary, artifacts = folder / "words.dict", folder / f"found-{name}"
    write_dictionary(dictionary)
    artifacts.mkdir()
    command = [
        sys.executable, "-m", "tests.fuzz.engine", name, given.plant or "",
        f"-max_total_time={max(1, round(time_s))}", f"-seed={seed}", f"-rss_limit_mb={_LIMIT_MB}",
        f"-timeout={_INPUT_TIMEOUT_S}", f"-max_len={_INPUT_BYTES_MAX}", f"-dict={dictionary}",
        f"-artifact_prefix={artifacts}/", "-print_final_stats=1", str(corpus), str(folder / f"seeds-{name}"),
    ]  # fmt: skip
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        done = subprocess.run(
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, timeout=time_s + _GRACE_S, check=False
        )
    text = log.read_text(encoding="utf-8", errors="replace")
    reached = _STATUS.findall(text)
    said = "executions {}, coverage {}, features {}, inputs {}".format(*(reached[-1] if reached else "????"))
    _say(f"{name}: {said}; {seeds_count} seeds, {time_s:.0f} s, seed {seed}, exit {done.returncode}")
    inputs = sorted(artifacts.iterdir())
    for path in inputs:
        _say(f"  finding: python -m tests.fuzz --target {name} --replay {path}")
    if done.returncode != 0:
        _say("\n".join(f"  {line}" for line in text.splitlines()[-40:]))
    return done.returncode != 0 or bool(inputs)


if __name__ == "__main__":
    sys.exit(main())
