"""The Java client's default partitioner, for sources that promise to use it.

librdkafka hashes in the same way when it produces; this copy exists because a record that was read carries no proof
of how its partition was chosen. The algorithm is MurmurHash2 (32 bits, seed 0x9747b28c), as published by its author
and fixed by Kafka's wire behaviour.
"""

from functools import lru_cache

_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_SHIFT = 24
_MASK = 0xFFFFFFFF
_POSITIVE = 0x7FFFFFFF


def murmur2(key: bytes) -> int:
    """Hash a key as the Java client does.

    Args:
        key: The record key's bytes.

    Returns:
        The hash as an unsigned 32-bit integer.
    """
    length = len(key)
    digest = (_SEED ^ length) & _MASK
    whole = length & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(key[start : start + 4], "little")
        word = (word * _MULTIPLIER) & _MASK
        word ^= word >> _SHIFT
        word = (word * _MULTIPLIER) & _MASK
        digest = ((digest * _MULTIPLIER) & _MASK) ^ word
    if whole < length:
        digest ^= int.from_bytes(key[whole:], "little")
        digest = (digest * _MULTIPLIER) & _MASK
    digest ^= digest >> 13
    digest = (digest * _MULTIPLIER) & _MASK
    return digest ^ (digest >> 15)


@lru_cache(maxsize=65_536)  # a run's key comes back for each of its events; the hash costs 5 µs, the look-up 0.1
def murmur2_partition(key: bytes, partition_count: int) -> int:
    """The partition that the Java client would choose.

    Args:
        key: The record key's bytes.
        partition_count: How many partitions the topic has, 1 or more.

    Returns:
        A partition number from 0.
    """
    return (murmur2(key) & _POSITIVE) % partition_count
