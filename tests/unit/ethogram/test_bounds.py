"""The numbers of the protocol."""

import ethogram


def test_bounds_are_those_of_the_spec() -> None:
    """Each bound is the spec's figure."""
    assert ethogram.SCHEMA_VERSION == 1
    assert ethogram.MAX_TEXT_SCALARS == 16_384
    assert ethogram.MAX_EXCERPT_SCALARS == 4_096
    assert ethogram.MAX_PAYLOAD_BYTES == 131_072
    assert ethogram.MAX_SAFE_INTEGER == 9_007_199_254_740_991


def test_public_list_is_whole_and_sorted() -> None:
    """Every public name exists, and constants, classes and functions are each in order."""
    names = ethogram.__all__
    assert all(hasattr(ethogram, name) for name in names)
    assert len(set(names)) == len(names)
    groups = [
        [name for name in names if name.isupper()],
        [name for name in names if name[0].isupper() and not name.isupper()],
        [name for name in names if name.islower()],
    ]
    assert [name for group in groups for name in sorted(group)] == list(names)
