"""What properties draw from: JSON values, payloads of the vocabulary, events and their documents."""

import random
from typing import Any

from hypothesis import strategies as st

from ethogram import MAX_SAFE_INTEGER, Event
from ethogram.vocabulary import VOCABULARY, Field, FieldKind
from tests.property.spelling import spell

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Text that UTF-8 can hold."""

any_texts = st.text(max_size=30) | st.text("a\U0001f600\u0301\ufffd\ud800\udbff\udc00\udfff", max_size=30)
"""Text of any characters, lone surrogates and halves of pairs included."""

safe_floats = st.floats(min_value=-float(MAX_SAFE_INTEGER), max_value=float(MAX_SAFE_INTEGER))
safe_integers = st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
counts = st.integers(0, MAX_SAFE_INTEGER)

_leaves = st.none() | st.booleans() | safe_integers | safe_floats | texts


def _containers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) | st.dictionaries(texts, values, max_size=4)


json_values = st.recursive(_leaves, _containers, max_leaves=10)
"""JSON values that an event may carry."""


def _spell(value: Any, seeds: list[int]) -> tuple[Any, list[str]]:  # noqa: ANN401 - any JSON value
    return value, [spell(value, random.Random(seed)) for seed in seeds]


spelt_values = st.builds(_spell, json_values, st.lists(st.integers(0, 2**32), min_size=2, max_size=4))
"""A JSON value together with several texts that mean it: `tests.property.spelling` says in which ways they differ."""

odd_values = st.recursive(
    _leaves
    | st.integers()
    | st.floats()
    | any_texts
    | st.binary(max_size=3)
    | st.sampled_from(["x" * 4097, "x" * 16_385]),
    lambda values: _containers(values) | st.tuples(values) | st.dictionaries(st.integers() | texts, values, max_size=2),
    max_leaves=8,
)
"""Python values, many of which are no JSON or break a bound."""


_PLAIN_VALUES: dict[FieldKind, st.SearchStrategy[Any]] = {
    FieldKind.TEXT: texts,
    FieldKind.FLAG: st.booleans(),
    FieldKind.COUNT: counts,
    FieldKind.NUMBER: safe_floats | safe_integers,
    FieldKind.TEXT_LIST: st.lists(texts, max_size=3),
}


def _values_of(field: Field) -> st.SearchStrategy[Any]:
    if field.members:
        return st.sampled_from(field.members)
    if field.kind is FieldKind.OBJECT:
        return objects_of(field.fields)
    if field.kind is FieldKind.OBJECT_LIST:
        return st.lists(objects_of(field.fields), max_size=3)
    return _PLAIN_VALUES[field.kind]


def objects_of(fields: tuple[Field, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the fields of the vocabulary, the optional ones now and then."""
    return st.fixed_dictionaries(
        {field.name: _values_of(field) for field in fields if field.required},
        optional={field.name: _values_of(field) for field in fields if not field.required},
    )


def _spoil(typed: tuple[str, dict[str, Any]], name: str, value: Any) -> tuple[str, Any]:  # noqa: ANN401 - any JSON
    return typed[0], typed[1] | {name: value}


_field_names = sorted({field.name for event_type in VOCABULARY.values() for field in event_type.fields})

typed_payloads = st.sampled_from(sorted(VOCABULARY)).flatmap(
    lambda name: st.tuples(st.just(name), objects_of(VOCABULARY[name].fields))
)
"""(type, representable payload) of the vocabulary."""

spoilt_payloads = (
    typed_payloads
    | st.builds(_spoil, typed_payloads, st.sampled_from(_field_names), odd_values)
    | st.builds(_spoil, typed_payloads, texts, odd_values)
    | st.tuples(st.sampled_from([*VOCABULARY, "x.y"]), odd_values)
)
"""(type, payload) of which many break one rule or other."""

rough_json = st.recursive(
    _leaves
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([2**53, 2**53 + 1, -(2.0**53), -1, 0.5]),
    _containers,
    max_leaves=8,
)
"""JSON values that an event need not be able to carry."""

_OWN: tuple[Any, ...] = ("", "deny", "steer", "permission", -1, 0.5, 5.0, True, None, [], {}, [""], [{"id": "deny"}])

_long_texts = st.sampled_from(["w" * 4096, "w" * 4097, "\U0001f600" * 4097, "w" * 16_385, "\x00" * 16_384])


@st.composite
def _spoil_own(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A payload of which one or two of its type's own fields hold something else."""
    event_type, payload = draw(typed_payloads)
    names = [field.name for field in VOCABULARY[event_type].fields]
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)):
        payload[name] = draw(st.sampled_from(_OWN) | rough_json | _long_texts)
    return event_type, payload


spoilt_json = (
    typed_payloads
    | _spoil_own()
    | st.builds(_spoil, typed_payloads, st.sampled_from(_field_names), rough_json | _long_texts)
    | st.builds(_spoil, typed_payloads, texts, rough_json | st.lists(_long_texts, max_size=9))
    | st.tuples(st.sampled_from([*VOCABULARY, "x.y", ""]), rough_json)
)
"""(type, payload) in JSON, of which many break one rule or other."""

events = st.builds(
    lambda typed, run_id, seq, ts, captured_at: Event(typed[0], run_id, seq, ts, typed[1], captured_at),
    typed_payloads | st.tuples(texts.map(lambda text: f"x.{text}"), json_values),
    texts,
    st.integers(1, MAX_SAFE_INTEGER),
    texts,
    st.none() | texts,
)
"""Events that parse."""
