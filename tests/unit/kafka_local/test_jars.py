"""The cache of jars: where it is, and how damage shows."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from deploy.kafka.kafka_local import jars
from deploy.kafka.kafka_local.errors import LocalKafkaError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole cache of two small jars."""
    (tmp_path / "a.jar").write_bytes(b"aaa")
    (tmp_path / "b.jar").write_bytes(b"b")
    jars.write_manifest(tmp_path)
    return tmp_path


def test_cache_root_prefers_the_named_folder() -> None:
    """`ETHOGRAM_CACHE_DIR`, then `XDG_CACHE_HOME`, then the home folder."""
    assert jars.cache_root({"ETHOGRAM_CACHE_DIR": "/c", "XDG_CACHE_HOME": "/x"}) == Path("/c")
    assert jars.cache_root({"XDG_CACHE_HOME": "/x"}) == Path("/x/ethogram-relay")
    assert jars.cache_root({}) == Path.home() / ".cache" / "ethogram-relay"


def test_whole_cache_has_no_fault(folder: Path) -> None:
    """A manifest agrees with what it was written from."""
    assert jars.manifest_fault(folder) is None


def test_missing_manifest_is_a_fault(tmp_path: Path) -> None:
    """A folder without a manifest was never finished, or is no cache."""
    assert "expected a manifest, got none" in str(jars.manifest_fault(tmp_path))


def test_truncated_jar_is_a_fault(folder: Path) -> None:
    """A size that differs shows a damaged file."""
    (folder / "a.jar").write_bytes(b"a")

    assert "expected 2 jars as in the manifest, got 2, 2 entries differ" in str(jars.manifest_fault(folder))


def test_missing_and_foreign_jars_are_faults(folder: Path) -> None:
    """Every jar of the class path must be one that was fetched."""
    (folder / "c.jar").write_bytes(b"c")
    assert jars.manifest_fault(folder) is not None
    (folder / "c.jar").unlink()
    (folder / "b.jar").unlink()
    assert jars.manifest_fault(folder) is not None


@pytest.mark.parametrize("text", ["", "[]", '{"jars": {}}', '{"jars": []}', '{"other": 1}'])
def test_unreadable_manifest_is_a_fault(folder: Path, text: str) -> None:
    """Whatever is no manifest, or an empty one, leads to a new fetch."""
    (folder / jars.MANIFEST_NAME).write_text(text, encoding="utf-8")

    assert jars.manifest_fault(folder) is not None


def fetch_small(target: Path, coordinates: Sequence[str]) -> str | None:
    """Fetch one jar for each coordinate, named after it, some folders down as jgo does."""
    for coordinate in coordinates:
        _, artifact, version = coordinate.split(":")
        deep = target / "envs" / "jars"
        deep.mkdir(parents=True, exist_ok=True)
        (deep / f"{artifact}-{version}.jar").write_bytes(b"jar")
    return None


def test_damaged_cache_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first use fetches, the next does not, damage and killed fetches are mended, and nothing else is left."""
    monkeypatch.setattr(jars, "FETCHERS", (fetch_small,))
    paths = jars.ensure_jars(tmp_path)
    assert [path.name for path in paths] == [
        "kafka-tools-4.3.1.jar",
        "kafka_2.13-4.3.1.jar",
        "log4j-slf4j-impl-2.25.4.jar",
    ]
    monkeypatch.setattr(jars, "FETCHERS", ())
    assert jars.ensure_jars(tmp_path) == paths

    paths[0].unlink()
    (tmp_path / f".{jars.jars_folder(tmp_path).name}.killed").mkdir()
    monkeypatch.setattr(jars, "FETCHERS", (lambda _target, _coordinates: "no network", fetch_small))
    assert jars.ensure_jars(tmp_path) == paths

    folder = jars.jars_folder(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, f"{folder.name}.lock"]
    assert json.loads((folder / jars.MANIFEST_NAME).read_text(encoding="utf-8"))["coordinates"] == list(
        jars.COORDINATES
    )


def test_failed_fetch_says_what_to_do_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without network the error names the ways out and what each fetcher said."""
    monkeypatch.setattr(jars, "FETCHERS", (lambda _target, _coordinates: "no network",))

    with pytest.raises(LocalKafkaError, match="ETHOGRAM_CACHE_DIR names another place") as caught:
        jars.ensure_jars(tmp_path)

    assert "no network" in str(caught.value)
    assert "KAFKA_BOOTSTRAP_SERVERS" in str(caught.value)
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]
