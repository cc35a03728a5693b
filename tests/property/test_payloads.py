"""Typed payloads lose nothing."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ethogram import VOCABULARY, EventDraft, read_payload
from ethogram.canonical import serialise_value
from ethogram.payloads import KnownPayload
from ethogram.vocabulary import Field
from tests.property.strategies import json_values, texts, typed_payloads


@given(typed_payloads, st.dictionaries(texts.map(lambda name: f"x-{name}"), json_values, max_size=3))
def test_reading_and_writing_changes_nothing(typed: tuple[str, dict[str, Any]], unknown: dict[str, Any]) -> None:
    """A payload read as its class and written again has the same canonical bytes, unknown fields included."""
    event_type, payload = typed
    draft = EventDraft(event_type, payload | unknown)
    again = read_payload(draft).draft()
    assert again.type == event_type
    assert serialise_value(again.payload) == serialise_value(draft.payload)


@given(texts, json_values)
def test_a_foreign_type_is_carried(name: str, payload: object) -> None:
    """A type outside the vocabulary comes out as it went in."""
    draft = EventDraft(f"x.{name}", payload)
    assert read_payload(draft).draft() == draft


@given(typed_payloads, st.integers(1, 6))
def test_excerpting_makes_texts_fit(typed: tuple[str, dict[str, Any]], times: int) -> None:
    """Every narrated text of an excerpted payload is within its bound and a prefix of what it was."""
    event_type, payload = typed
    stretched = _stretched(payload, times)
    read = read_payload(EventDraft(event_type, stretched))
    assert isinstance(read, KnownPayload)
    cut = read.excerpted()
    assert cut.excerpted() == cut
    before = dict(_narrated(VOCABULARY[event_type].fields, stretched, ""))
    after = dict(_narrated(VOCABULARY[event_type].fields, cut.to_json(), ""))
    assert before.keys() == after.keys()
    for place, (text, scalars_max) in after.items():
        assert text == before[place][0][:scalars_max]
    was_cut = any(len(text) > scalars_max for text, scalars_max in before.values())
    assert was_cut is (cut is not read)
    assert not was_cut or b'"truncated":true' in serialise_value(cut.to_json())


def _stretched(value: Any, times: int) -> Any:  # noqa: ANN401 - any JSON value
    """The value with every text of some length made long."""
    if isinstance(value, dict):
        return {name: _stretched(member, times) for name, member in value.items()}
    if isinstance(value, list):
        return [_stretched(element, times) for element in value]
    return value * 1000 * times if isinstance(value, str) and len(value) > 2 else value


def _narrated(fields: tuple[Field, ...], value: dict[str, Any], place: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """Every narrated text with its bound, by its place."""
    for field in fields:
        entries = value.get(field.name, [])
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            where = f"{place}.{field.name}[{index}]"
            if field.fields:
                yield from _narrated(field.fields, entry, where)
            elif field.scalars_max is not None:
                yield where, (entry, field.scalars_max)
