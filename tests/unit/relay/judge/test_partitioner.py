"""The Java client's partitioner."""

import pytest

from relay.judge.partitioner import murmur2, murmur2_partition


@pytest.mark.parametrize(
    ("key", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_agrees_with_the_java_client(key: bytes, signed: int) -> None:
    """The hash is that of the Java client, for every length of the tail."""
    assert murmur2(key) == signed % 2**32


def test_partitions_take_the_hash_without_its_sign() -> None:
    """The partition is the hash, its sign bit cleared, modulo the partition count."""
    assert murmur2_partition(b"21", 1000) == 340
    assert murmur2_partition(b"abc", 1000) == 107
    assert murmur2_partition(b"abc", 1) == 0
