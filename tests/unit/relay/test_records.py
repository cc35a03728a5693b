"""The measure of a record."""

from relay.records import record_batch_bytes


def test_a_record_is_measured_as_a_batch_of_one() -> None:
    """61 bytes of the batch, the record's length, its 3 fixed bytes, and each part behind its own length."""
    assert record_batch_bytes(None, None, None) == 61 + 1 + (3 + 1 + 1 + 1)
    assert record_batch_bytes(b"", b"", []) == 61 + 1 + (3 + 1 + 1 + 1)
    assert record_batch_bytes(b"k", b"v" * 50, None) == 61 + 1 + (3 + 2 + 51 + 1)


def test_lengths_grow_with_what_they_measure() -> None:
    """A zigzag length takes one byte up to 63, two up to 8,191, three up to 1,048,575."""
    fixed = 61 + 3 + 1 + 1
    assert record_batch_bytes(None, b"v" * 57, None) == fixed + 1 + (1 + 57)
    assert record_batch_bytes(None, b"v" * 58, None) == fixed + 2 + (1 + 58)
    assert record_batch_bytes(None, b"v" * 63, None) == fixed + 2 + (1 + 63)
    assert record_batch_bytes(None, b"v" * 64, None) == fixed + 2 + (2 + 64)
    assert record_batch_bytes(None, b"v" * 8191, None) == fixed + 3 + (2 + 8191)
    assert record_batch_bytes(None, b"v" * 1_048_575, None) == fixed + 4 + (3 + 1_048_575)


def test_headers_count_by_bytes() -> None:
    """Each header is its name in UTF-8 and its value, a null value being one byte as an empty one is."""
    bare = record_batch_bytes(b"k", b"v", None)
    assert record_batch_bytes(b"k", b"v", [("é", b"xy")]) == bare + (1 + 2) + (1 + 2)
    assert record_batch_bytes(b"k", b"v", [("h", None)]) == bare + (1 + 1) + 1
    assert record_batch_bytes(b"k", b"v", [("h", b"")]) == bare + (1 + 1) + 1
