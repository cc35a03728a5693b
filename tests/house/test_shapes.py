"""Sizes, depths and docstrings."""

import ast
from collections.abc import Iterator

from tests.house.tree import Module, modules, report

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
NESTING_MAX = 3

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match


def functions() -> Iterator[tuple[Module, Function]]:
    """Every function and method of the tree."""
    for module in modules():
        for node in ast.walk(module.syntax):
            if isinstance(node, Function):
                yield module, node


def deepest(node: ast.AST, depth: int = 0) -> tuple[int, int]:
    """How deep blocks nest below a node, and on which line; `elif` goes no deeper, functions begin anew."""
    found = depth, getattr(node, "lineno", 0)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef | ast.Lambda):
            continue
        is_elif = isinstance(child, ast.If) and isinstance(node, ast.If) and node.orelse == [child]
        inner = depth + (isinstance(child, _BLOCKS) and not is_elif)
        found = max(found, deepest(child, inner))
    return found


def test_modules_fit() -> None:
    """No module is longer than 400 lines: past that it has a second duty."""
    findings = [
        module.at(
            len(module.lines), f"at most {MODULE_LINES_MAX} lines, has {len(module.lines)}: part it by its duties"
        )
        for module in modules()
        if len(module.lines) > MODULE_LINES_MAX
    ]
    assert not findings, report(findings)


def test_functions_fit_a_screen() -> None:
    """No function is longer than 70 lines, its docstring included."""
    findings = []
    for module, function in functions():
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > FUNCTION_LINES_MAX:
            wanted = f"{function.name} has at most {FUNCTION_LINES_MAX} lines, not {lines}"
            findings.append(module.at(function.lineno, wanted))
    assert not findings, report(findings)


def test_blocks_nest_three_deep_at_most() -> None:
    """No block is a fourth inside three others."""
    findings = []
    for module, function in functions():
        depth, line = deepest(function)
        if depth > NESTING_MAX:
            wanted = f"{function.name} nests at most {NESTING_MAX} deep, not {depth}: return early or part it"
            findings.append(module.at(line, wanted))
    assert not findings, report(findings)


def test_depth_is_counted_by_blocks() -> None:
    """The measure takes loops, conditions, tries and withs, and no `elif`."""
    text = "def f():\n for x in y:\n  if x:\n   pass\n  elif y:\n   with z:\n    pass\n"
    assert deepest(ast.parse(text).body[0])[0] == 3


def documented(module: Module) -> Iterator[tuple[int, str, ast.AST]]:
    """What must have a docstring: line, words for it, and its node."""
    yield 1, "the module", module.syntax
    yield from _members(module.syntax)


def _members(parent: ast.Module | ast.ClassDef) -> Iterator[tuple[int, str, ast.AST]]:
    for node in parent.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.lineno, f"class {node.name}", node
            yield from _members(node)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield node.lineno, f"function {node.name}", node


def test_everything_public_is_documented() -> None:
    """Every module, public class and public function has a docstring, tests included: theirs says the rule."""
    findings = []
    for module in modules():
        if not module.text.strip():
            continue
        for line, words, node in documented(module):
            assert isinstance(node, ast.Module | ast.ClassDef | Function)
            if not (ast.get_docstring(node) or "").strip():
                findings.append(module.at(line, f"{words} has a docstring"))
    assert not findings, report(findings)


def test_every_test_says_its_rule() -> None:
    """A test's docstring is a sentence of its own, not its name again."""
    findings = []
    for module, function in functions():
        if not function.name.startswith("test_") or module.path.parts[0] != "tests":
            continue
        said = ast.get_docstring(function) or ""
        words = "".join(letter for letter in said.lower() if letter.isalpha())
        if not said or words == function.name.removeprefix("test_").replace("_", ""):
            findings.append(module.at(function.lineno, f"{function.name} says the rule that it proves"))
    assert not findings, report(findings)
