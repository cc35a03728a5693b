"""Which files come from the vocabulary, and what each holds."""

import subprocess
import sys

from ethogram.vocabulary import FAMILIES
from tools.generate.cases import case_lines
from tools.generate.payloads import family_module, init_module, objects_module, registry_module
from tools.generate.reference import reference_page


def generated_files() -> dict[str, str]:
    """Make every generated file.

    Returns:
        Text by path, relative to the root of the tree; code is formatted as the house formats it.
    """
    modules = {
        "ethogram/payloads/__init__.py": init_module(),
        "ethogram/payloads/objects.py": objects_module(),
        "ethogram/payloads/registry.py": registry_module(),
    }
    for family in FAMILIES:
        modules[f"ethogram/payloads/{family.name}.py"] = family_module(family)
    written = {path: _formatted(path, text) for path, text in modules.items()}
    written["docs/vocabulary.md"] = reference_page()
    written["conformance/handwritten/vocabulary.jsonl"] = case_lines()
    return written


def _formatted(path: str, text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", path, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
