"""The cases under a path, whatever form it has: a vector file, a folder of them, or the captured corpus.

Spec: The founding decision: two implementations, one corpus
"""

from collections.abc import Iterator
from pathlib import Path

from conformance.corpus import is_corpus, read_corpus
from conformance.vectors import Vector, find_files, read_vectors


def read_cases(path: Path) -> Iterator[Vector]:
    """Give every case under a path, in order.

    Args:
        path: a file, a folder whose `*.jsonl` at any depth are meant, or a captured corpus.

    Raises:
        VectorFileError: something under it cannot be read.

    Spec: The founding decision: two implementations, one corpus
    """
    if is_corpus(path):
        yield from read_corpus(path)
        return
    for file in find_files(path):
        yield from read_vectors(file)
