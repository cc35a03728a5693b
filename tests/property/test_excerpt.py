"""Excerpts: whole scalars, within their bound, flagged exactly."""

from hypothesis import example, given
from hypothesis import strategies as st

import ethogram
from ethogram import MAX_EXCERPT_SCALARS
from tests.property.strategies import any_texts

bounds = st.integers(0, 40)


def scalars_of(text: str) -> list[str]:
    """The scalars of a text, one by one, a lone surrogate as what stands for it."""
    return ["\ufffd" if 0xD800 <= ord(character) <= 0xDFFF else character for character in text]


@given(any_texts, bounds)
@example("\ud83d\ude00", 1)
@example("\U0001f600", 0)
def test_an_excerpt_is_the_first_scalars_and_says_whether_there_were_more(text: str, scalars_max: int) -> None:
    """What is kept is the text's first scalars, never a part of one; the flag is set exactly where some were cut."""
    kept = ethogram.excerpt(text, scalars_max)
    assert scalars_of(kept.text) == list(kept.text) == scalars_of(text)[:scalars_max]
    assert kept.truncated is (len(scalars_of(text)) > scalars_max)


@given(any_texts, bounds)
def test_an_excerpt_fits_its_bound_on_the_wire(text: str, scalars_max: int) -> None:
    """As UTF-8, and decoded by another reader in UTF-32, it is within its bound."""
    kept = ethogram.excerpt(text, scalars_max).text
    assert kept.encode("utf-8").decode("utf-8") == kept
    assert len(kept.encode("utf-32-le")) // 4 <= scalars_max


@given(any_texts, bounds, bounds)
def test_two_excerpts_are_the_tighter_one(text: str, one: int, other: int) -> None:
    """An excerpt of an excerpt is the excerpt at the tighter bound, and is cut where either was."""
    first = ethogram.excerpt(text, one)
    second = ethogram.excerpt(first.text, other)
    at_once = ethogram.excerpt(text, min(one, other))
    assert second.text == at_once.text
    assert (first.truncated or second.truncated) is at_once.truncated
    assert ethogram.excerpt(first.text, one) == (first.text, False)


@given(any_texts, bounds, bounds)
def test_a_wider_bound_keeps_no_less(text: str, one: int, other: int) -> None:
    """The excerpt at a tighter bound is the beginning of that at a wider one, and is flagged if the wider one is."""
    tight, wide = (ethogram.excerpt(text, bound) for bound in sorted((one, other)))
    assert wide.text.startswith(tight.text)
    assert tight.truncated or not wide.truncated


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3), st.integers(-3, 3))
def test_an_excerpt_at_the_bound_is_valid_narration(unit: str, spare: int) -> None:
    """Text of about the bound, once excerpted, passes validation; before, it passes exactly where it was not cut."""
    text = (unit * MAX_EXCERPT_SCALARS)[: MAX_EXCERPT_SCALARS + spare]
    kept = ethogram.excerpt(text, MAX_EXCERPT_SCALARS)
    ethogram.validate("agent.warning", {"message": kept.text})
    try:
        ethogram.validate("agent.warning", {"message": text})
    except ethogram.ValidationError as error:
        assert kept.truncated
        assert error.details["count"] == len(text)  # noqa: PT017 - whether it raises is what is compared
    else:
        assert not kept.truncated
