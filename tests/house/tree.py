"""The tree as the rules of the house see it: files, syntax, comments, imports."""

import ast
import io
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("ethogram", "relay", "conformance", "deploy", "tools", "tests")
SHIPPED = ("ethogram", "relay")


@dataclass(frozen=True)
class Module:
    """One Python file.

    Attributes:
        path: relative to the root of the tree.
        text: what it holds.
    """

    path: Path
    text: str

    @cached_property
    def syntax(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """Its dotted name, `relay.judge` for the package itself."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, the first one at 0."""
        return self.text.splitlines()

    def comments(self) -> Iterator[tuple[int, str]]:
        """Line number and text of every comment."""
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string

    def at(self, line: int, wanted: str) -> str:
        """A finding: file, line and the wanted form."""
        return f"{self.path}:{line}: {wanted}"


@lru_cache
def tracked() -> tuple[Path, ...]:
    """Every file of the tree that is not ignored, relative to its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # An unpacked source archive has no repository.
        return tuple(sorted(path.relative_to(ROOT) for part in PACKAGES for path in (ROOT / part).rglob("*.py")))
    return tuple(sorted(Path(name) for name in set(listed) if (ROOT / name).is_file()))


@lru_cache
def _all_modules() -> tuple[Module, ...]:
    return tuple(
        Module(path, (ROOT / path).read_text(encoding="utf-8"))
        for path in tracked()
        if path.suffix == ".py" and path.parts[0] in PACKAGES
    )


@lru_cache
def modules(*parts: str) -> tuple[Module, ...]:
    """Every Python module below these top folders, all of them by default."""
    return tuple(module for module in _all_modules() if module.path.parts[0] in (parts or PACKAGES))


@dataclass(frozen=True)
class Import:
    """One import: which line, of what, and whether inside a function."""

    line: int
    name: str
    inside: bool


@cache
def imports_of(module: Module) -> tuple[Import, ...]:
    """Every import of a module, in order of its syntax tree."""
    return tuple(_imports_of(module))


def _imports_of(module: Module) -> Iterator[Import]:
    """Every import of a module; `from a import b` is both `a` and `a.b`, for `b` may be a module."""
    functions = [node for node in ast.walk(module.syntax) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    spans = [(function.lineno, function.end_lineno or function.lineno) for function in functions]
    for node in ast.walk(module.syntax):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        inside = any(first <= node.lineno <= last for first, last in spans)
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            yield Import(node.lineno, name, inside)


def is_within(name: str, *packages: str) -> bool:
    """Whether a dotted name is one of these packages or inside one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def report(findings: list[str]) -> str:
    """All findings, a line each."""
    return "\n" + "\n".join(findings)
