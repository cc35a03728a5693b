"""Apache Kafka's jars: resolved once, kept in a cache outside the tree, checked before each use.

A cache is whole or absent: it is built beside its place, under a lock, and renamed into it. A manifest of names and
sizes shows one that was damaged later, which is then built anew.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from deploy.kafka.kafka_local.errors import LocalKafkaError

KAFKA_VERSION = "4.3.1"
KAFKA_COORDINATES = (
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}",
    f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}",
)
# Kafka logs through SLF4J and names no binding: without this one a broker that cannot start says nothing. It is
# resolved apart and only its own jar taken, since its parent would manage kafka-clients down to 3.9.1.
BINDING_NAME = "log4j-slf4j-impl"
BINDING_COORDINATES = (f"org.apache.logging.log4j:{BINDING_NAME}:2.25.4",)
COORDINATES = KAFKA_COORDINATES + BINDING_COORDINATES
MANIFEST_NAME = "manifest.json"
FETCH_TIMEOUT_S = 600.0
REPOSITORY = Path(__file__).resolve().parents[3]
ERROR_TAIL_CHARACTERS = 600


def cache_root(environment: Mapping[str, str]) -> Path:
    """Choose the cache: `$ETHOGRAM_CACHE_DIR`, else `ethogram-relay` in `$XDG_CACHE_HOME`, else in `~/.cache`."""
    if chosen := environment.get("ETHOGRAM_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    if base := environment.get("XDG_CACHE_HOME"):
        return Path(base).absolute() / "ethogram-relay"
    return Path.home() / ".cache" / "ethogram-relay"


def jars_folder(root: Path) -> Path:
    """Name the folder of the pinned jars; other coordinates get another folder, so versions never mix."""
    digest = hashlib.sha256("+".join(COORDINATES).encode()).hexdigest()[:8]
    return root / f"kafka-{KAFKA_VERSION}-{digest}"


def list_jars(folder: Path) -> dict[str, int]:
    """List the jars directly in a folder: file names, sorted, to sizes in bytes."""
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.jar"))}


def write_manifest(folder: Path) -> None:
    """Write down which jars the folder holds now."""
    text = json.dumps({"coordinates": COORDINATES, "jars": list_jars(folder)}, indent=1)
    (folder / MANIFEST_NAME).write_text(text, encoding="utf-8")


def manifest_fault(folder: Path) -> str | None:
    """Compare a folder with its manifest.

    Args:
        folder: The folder of jars.

    Returns:
        None if every jar is there with its size and no other is; else what is wrong.
    """
    path = folder / MANIFEST_NAME
    try:
        wanted = dict(json.loads(path.read_text(encoding="utf-8"))["jars"])
    except FileNotFoundError:
        return f"{path}: expected a manifest, got none"
    except (ValueError, KeyError, TypeError):
        return f"{path}: expected JSON with a member `jars`, got something else"
    got = list_jars(folder)
    if not wanted or wanted != got:
        differing = sorted(set(wanted.items()) ^ set(got.items()))
        return (
            f"{folder}: expected {len(wanted)} jars as in the manifest, got {len(got)}, {len(differing)} entries differ"
        )
    return None


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock file for as long as the block runs; the kernel lets go of it if the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Run a fetching command; None if it succeeded, else the end of what it said."""
    try:
        answer = subprocess.run(  # noqa: S603 - fixed programs with our own coordinates
            command,
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=FETCH_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {FETCH_TIMEOUT_S:.0f} s"
    except OSError as error:
        return str(error)
    if answer.returncode == 0:
        return None
    return (answer.stderr + answer.stdout).strip()[-ERROR_TAIL_CHARACTERS:] or f"exit code {answer.returncode}"


def fetch_by_jgo(target: Path, coordinates: Sequence[str]) -> str | None:
    """Fetch with jgo, which needs Python alone; its repository copy goes beside the target."""
    command = [sys.executable, "-m", "deploy.kafka.kafka_local.jgo_fetch", str(target), *coordinates]
    return _run(command, {"M2_REPO": str(target.parent / "m2")})


def fetch_by_maven(target: Path, coordinates: Sequence[str]) -> str | None:
    """Fetch with the machine's Maven, which knows the mirrors that its user has set."""
    maven = shutil.which("mvn")
    if maven is None:
        return "mvn: none on PATH"
    names = ("groupId", "artifactId", "version")
    dependencies = "".join(
        "<dependency>"
        + "".join(f"<{n}>{v}</{n}>" for n, v in zip(names, coordinate.split(":"), strict=True))
        + "</dependency>"
        for coordinate in coordinates
    )
    target.mkdir(parents=True, exist_ok=True)
    pom = target / "pom.xml"
    pom.write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>kafka</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>",
        encoding="utf-8",
    )
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={target}"]
    return _run([maven, "-q", "-B", "-f", str(pom), *goal], {})


FETCHERS: tuple[Callable[[Path, Sequence[str]], str | None], ...] = (fetch_by_jgo, fetch_by_maven)


def _gather(source: Path, stage: Path) -> None:
    """Move the wanted jars directly into `stage`.

    Args:
        source: Holds folders `kafka` and `binding`, each with jars at any depth, since jgo parts them by kind.
        stage: Where they go.

    Raises:
        LocalKafkaError: If there is none of either, or two of one name.
    """
    kafka = sorted((source / "kafka").rglob("*.jar"))
    binding = sorted((source / "binding").rglob(f"{BINDING_NAME}-*.jar"))
    names = {path.name for path in (*kafka, *binding)}
    if not kafka or len(binding) != 1 or len(names) != len(kafka) + 1:
        raise LocalKafkaError(
            f"{source}: expected jars of distinct names and one binding, "
            f"got {len(kafka)} and {len(binding)} of {len(names)} names"
        )
    for path in (*kafka, *binding):
        path.rename(stage / path.name)


def _fetch(stage: Path) -> None:
    """Fetch every jar into `stage` by the first way that works.

    Raises:
        LocalKafkaError: If none does; with what each said.
    """
    faults = []
    for fetch in FETCHERS:
        source = stage / fetch.__name__
        fault = fetch(source / "kafka", KAFKA_COORDINATES) or fetch(source / "binding", BINDING_COORDINATES)
        if fault is None:
            _gather(source, stage)
            shutil.rmtree(source)
            return
        faults.append(f"\n  {fetch.__name__}: {fault}")
    folder = jars_folder(stage.parent)
    raise LocalKafkaError(
        "Apache Kafka's jars: expected to fetch them once, got no answer. Give this machine access to Maven Central, "
        f"or copy {folder.name} from a machine that has it into {folder.parent} (ETHOGRAM_CACHE_DIR names another "
        f"place), or set KAFKA_BOOTSTRAP_SERVERS to a running broker.{''.join(faults)}"
    )


def _build(folder: Path) -> None:
    """Fetch the jars beside their place and rename the whole folder into it."""
    for abandoned in folder.parent.glob(f".{folder.name}.*"):
        # The lock is ours, so whoever began this was killed.
        shutil.rmtree(abandoned)
    stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _fetch(stage)
        write_manifest(stage)
        stage.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        stage.rename(folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _build_if_needed(folder: Path) -> None:
    """Ask again under the lock: whoever held it before may have built the cache."""
    if manifest_fault(folder) is None:
        return
    sys.stderr.write(f"kafka: fetching Apache Kafka {KAFKA_VERSION} once (56 MB) into {folder}\n")
    _build(folder)


def ensure_jars(root: Path) -> list[Path]:
    """Give the broker's jars, fetching them if they are not yet in the cache.

    Args:
        root: The cache folder; made if need be. Two processes may call at once: one fetches, the other waits.

    Returns:
        The paths, sorted, fit for a class path.

    Raises:
        LocalKafkaError: If they cannot be fetched; the text says what to install or set.
    """
    folder = jars_folder(root)
    if manifest_fault(folder) is not None:
        try:
            with exclusive(root / f"{folder.name}.lock"):
                _build_if_needed(folder)
        except OSError as error:
            raise LocalKafkaError(
                f"{root}: expected a folder for Apache Kafka's jars, got {error.strerror}: set ETHOGRAM_CACHE_DIR"
            ) from error
    if (fault := manifest_fault(folder)) is not None:
        raise LocalKafkaError(fault)
    return [folder / name for name in list_jars(folder)]
