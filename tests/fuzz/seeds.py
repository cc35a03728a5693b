"""What fuzzing starts from: the handwritten vectors, shared vectors and captures, the words of the vocabulary.

Nothing of it is written into the tree; the command copies it to a folder of its own.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.vectors import expand, find_files, read_vectors
from ethogram.vocabulary import VOCABULARY, Field

ROOT: Final = Path(__file__).parents[2]
DATA_ENV_NAME: Final = "ETHOGRAM_TEST_DATA"

SEED_BYTES_MAX: Final = 4096
"""Longer seeds would slow every mutation down; what only length can reach is built by the structured target."""

_CHANCE: Final = random.Random(1)

# What is built from choices needs no sense in its seeds, only enough bytes to choose by.
_BUILT: Final = (
    *(bytes((byte,)) * 16 for byte in (0, 1, 3, 7, 20, 85, 170, 255)),
    *(_CHANCE.randbytes(length) for length in range(16, 272, 4)),
)

_FRAGMENTS: Final = (
    '{"v":1,"type":"x","runId":"r","seq":1,"ts":"t","payload":', ',"capturedAt":"t"}', ',"capturedAt":null', '"v":1,',
    '"payload":{}', '"seq":1.0', "9007199254740991", "9007199254740992", "1e400", "-0.0", "1e-7", "5e-324", "0.1e1",
    "\\ud83d\\ude00", "\\ud800", "\\u0076", "\\/", "null", "true", "false", "[[[[[[[[", "]]]]]]]]", "\ufeff", "NaN",
    "Infinity", '{"$repeat":["w",4097]}', '{"$repeat":["\U0001f600",16385]}', "\u2028", "\uffff\U00010000",
)  # fmt: skip


def read_seeds(target: str) -> list[bytes]:
    """The seeds of a target, each once, in a fixed order."""
    found = {"parse": _documents, "validate": _payloads}.get(target, lambda: iter(_BUILT))()
    return list(dict.fromkeys(seed for seed in found if len(seed) <= SEED_BYTES_MAX))


def _vector_files(name: str) -> Iterator[Path]:
    yield ROOT / "conformance" / "handwritten" / name
    if os.environ.get(DATA_ENV_NAME):
        yield Path(os.environ[DATA_ENV_NAME]) / "vectors" / "ethogram" / name


def _documents() -> Iterator[bytes]:
    for path in _vector_files("parse.jsonl"):
        for vector in read_vectors(path):
            raw = vector.input.get("raw")
            if isinstance(raw, str):
                yield raw.encode("utf-8", "surrogatepass")
    if os.environ.get(DATA_ENV_NAME):
        captures = Path(os.environ[DATA_ENV_NAME]) / "captures"
        for path in find_files(captures) if captures.is_dir() else ():
            if path.name == "events.jsonl":
                # A few of each: captures say much the same many times.
                yield from path.read_bytes().splitlines()[:20]


def _payloads() -> Iterator[bytes]:
    for path in _vector_files("validate.jsonl"):
        # Not through the reader of vectors, which would expand the forms that stand for long texts.
        for line in path.read_bytes().splitlines():
            case = json.loads(line)["input"]
            is_text = "payloadJson" in case
            text = expand(case["payloadJson"]) if is_text else json.dumps(case["payload"], ensure_ascii=False)
            yield f"{case['type']}\n{text}".encode("utf-8", "surrogatepass")


def read_words() -> list[bytes]:
    """The words that inputs are made of: names, types, members of closed sets, and pieces of JSON."""
    words: dict[str, None] = {}
    for event_type in VOCABULARY.values():
        words[f'"{event_type.name}"'] = None
        words.update(dict.fromkeys(_words_of(event_type.fields)))
    return [word.encode() for word in (*words, *_FRAGMENTS)]


def _words_of(fields: tuple[Field, ...]) -> Iterator[str]:
    for field in fields:
        yield f'"{field.name}":'
        yield from (f'"{member}"' for member in field.members)
        yield from _words_of(field.fields)


def write_dictionary(path: Path) -> None:
    """Write the words as libFuzzer reads them: one quoted entry a line, other bytes than plain letters in hex."""
    entries = ("".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\x{byte:02x}" for byte in word)
               for word in read_words())  # fmt: skip
    path.write_text("".join(f'"{entry}"\n' for entry in entries), encoding="ascii")


def write_corpus(target: str, folder: Path) -> int:
    """Copy a target's seeds into a folder, a file each; gives their count."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = read_seeds(target)
    for number, seed in enumerate(seeds):
        (folder / f"seed-{number:05d}").write_bytes(seed)
    return len(seeds)
