"""The canonical form: of every value one, whichever way it was spelled, and the one that its description gives."""

import json
import random
import struct
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

import ethogram
from ethogram import MAX_SAFE_INTEGER, Event
from ethogram.canonical import _write_exactly, format_number, serialise_value
from tests.property import naive_writer
from tests.property.spelling import spell, spell_number
from tests.property.strategies import events, json_values, rough_json, spelt_values

DOCUMENT = '{"v":1,"type":"x","runId":"r","seq":1,"ts":"t","payload":%s}'

doubles = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", bits.to_bytes(8, "little"))[0])
finite_doubles = (doubles | st.floats()).filter(lambda number: abs(number) < float("inf"))


@given(spelt_values)
def test_every_spelling_of_a_value_has_the_same_canonical_bytes(spelt: tuple[Any, list[str]]) -> None:
    """Key order, forms of numbers, escapes and whitespace are gone, whether read by the kit or by another reader."""
    value, spellings = spelt
    wanted = naive_writer.write_value(value)
    assert serialise_value(value) == wanted
    for text in spellings:
        event = ethogram.parse_event(DOCUMENT % text)
        assert ethogram.serialise_event(event) == (DOCUMENT % wanted.decode()).encode()
        assert serialise_value(json.loads(text)) == wanted


@given(events, st.lists(st.integers(0, 2**32), min_size=2, max_size=3))
def test_every_spelling_of_a_typed_event_has_the_same_canonical_bytes(event: Event, seeds: list[int]) -> None:
    """The same for events of the vocabulary, their envelope spelled in any way but for its two integers."""
    members = event.to_dict()
    wanted = naive_writer.write_event(members)
    assert ethogram.serialise_event(event) == wanted
    for seed in seeds:
        order = random.Random(seed)
        strict = {"v": "1", "seq": str(event.seq)}
        parts = [f'"{name}":{strict.get(name) or spell(members[name], order)}' for name in members]
        order.shuffle(parts)
        assert ethogram.serialise_event(ethogram.parse_event("{" + ",".join(parts) + "}")) == wanted


@given(json_values | rough_json)
@example(2**53 + 1)
@example([-(2**63)])
def test_the_form_is_the_naive_writers_and_its_own(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Both writers of the kit write what the description gives, and writing what was written changes nothing."""
    wanted = naive_writer.write_value(value)
    assert serialise_value(value) == wanted
    assert _write_exactly(value) == wanted
    assert serialise_value(json.loads(wanted)) == wanted


@given(finite_doubles)
@example(5e-324)
@example(1e21)
@example(999_999_999_999_999_900_000.0)
@example(1e-6)
@example(9.5e-7)
@example(2.0**-44)
@example(-0.0)
@example(9_007_199_254_740_993.0)
@example(1.797_693_134_862_315_7e308)
def test_numbers_are_laid_out_as_ecma_262_has_it(number: float) -> None:
    """Any double, safe or not, is written as the steps of Number::toString write it, and reads back as itself."""
    written = format_number(number)
    assert written.decode() == naive_writer.write_number(number)
    assert float(written) == number


def test_powers_of_two_are_laid_out_as_ecma_262_has_it() -> None:
    """At a power of two the doubles below lie closer than those above, where shortest digits are easily got wrong."""
    for exponent in range(-1074, 1024):
        assert format_number(2.0**exponent).decode() == naive_writer.write_number(2.0**exponent), exponent


@given(st.integers(-(2**1023), 2**1023))
def test_integers_beyond_the_safe_ones_are_written_as_the_nearest_double(number: int) -> None:
    """An integer written by hand becomes the double that a reader would make of it."""
    assert format_number(number).decode() == naive_writer.write_number(float(number))


@given(st.floats(-float(MAX_SAFE_INTEGER), float(MAX_SAFE_INTEGER)) | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER))
def test_the_spellings_mean_the_number(number: float) -> None:
    """Each spelling that these tests use reads as the number, so that none of them proves too little."""
    spellings = spell_number(number)
    assert len(set(spellings)) >= 4
    for text in spellings:
        assert json.loads(text) == number
        assert format_number(json.loads(text)) == format_number(number)


def test_five_is_spelled_in_all_the_ways_that_are_asked_for() -> None:
    """The spellings hold those that producers are known to write."""
    assert {"5", "5.0", "5e0", "50e-1", "0.5E+01"} <= set(spell_number(5)) == set(spell_number(5.0))
    assert {"0", "-0", "-0.0"} <= set(spell_number(0)) == set(spell_number(-0.0))


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.integers(0, 9), max_size=8))
@example({"\uffff": 1, "\U00010000": 2})
@example({"10": 1, "9": 2, "": 3})
def test_keys_are_in_the_order_of_their_bytes(members: dict[str, int]) -> None:
    """The keys of what is written rise strictly as UTF-8."""
    pairs: list[tuple[str, Any]] = json.loads(serialise_value(members), object_pairs_hook=list)
    names = [name.encode() for name, _ in pairs]
    assert names == sorted(set(names))
    assert dict(pairs) == members
