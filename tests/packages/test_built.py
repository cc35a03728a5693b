"""The built distributions hold what they should, and the kit works with orjson alone."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).parents[2]

ISOLATED = """
import sys
sys.path[:0] = sys.argv[1:3]
for name in ("confluent_kafka", "relay", "pydantic", "prometheus_client"):
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(f"{name} is there: this proves nothing")
code = sys.stdin.read()
namespace = {}
exec(code, namespace)
import ethogram
assert ethogram.__file__.startswith(sys.argv[1]), ethogram.__file__
print(namespace["view"])
"""


def build(folder: Path, into: Path) -> zipfile.ZipFile:
    """Build the wheel of a distribution as its users would get it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = into.glob("*.whl")
    return zipfile.ZipFile(wheel)


def project(folder: Path) -> dict[str, object]:
    """The `[project]` table of a distribution."""
    table: dict[str, object] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_the_kit_works_with_orjson_alone(tmp_path: Path) -> None:
    """The built kit, beside orjson and the standard library, runs the code of its own README: no Kafka is installed."""
    build(ROOT / "ethogram", tmp_path / "built").extractall(tmp_path / "site")
    alone = tmp_path / "orjson-alone"
    alone.mkdir()
    (alone / "orjson").symlink_to(Path(orjson.__file__).parent, target_is_directory=True)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "ethogram/README.md").read_text(encoding="utf-8"), re.DOTALL)
    command = [sys.executable, "-I", "-S", "-c", ISOLATED, str(tmp_path / "site"), str(alone)]
    done = subprocess.run(command, cwd=tmp_path, input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "outcome='completed'" in done.stdout


@pytest.mark.parametrize(("folder", "package"), [("ethogram", "ethogram"), (".", "relay")])
def test_a_wheel_holds_one_package(folder: str, package: str, tmp_path: Path) -> None:
    """Each wheel has all modules of its package, its typing mark and its licence, and nothing of the other."""
    names = build(ROOT / folder, tmp_path).namelist()
    inside = {name for name in names if ".dist-info/" not in name}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / package).rglob("*.py")}
    assert modules <= inside
    assert f"{package}/py.typed" in inside
    assert all(name.startswith(f"{package}/") for name in inside)
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_the_two_are_released_together() -> None:
    """Both have one version, one Python and one orjson, and the relay asks for exactly this kit."""
    kit, relay = project(ROOT / "ethogram"), project(ROOT)
    assert kit["version"] == relay["version"]
    assert kit["requires-python"] == relay["requires-python"]
    needed = relay["dependencies"]
    assert isinstance(needed, list)
    assert f"ethogram=={kit['version']}" in needed
    assert kit["dependencies"] == [one for one in needed if one.startswith("orjson")]
    assert (ROOT / "ethogram/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
