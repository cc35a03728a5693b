"""One JSON value in many spellings: keys in any order, numbers, strings and whitespace in any form that means the same.

Chance comes from a generator that the caller seeds, so a spelling can be had again.
"""

import json
import random
from decimal import Decimal
from typing import Any

_SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_SPELT_SCALARS = 64
"""Of a longer text the middle is written raw: it has nothing to say that its ends do not."""

_SPACES = ["", "", "", "", " ", "\n", "\t\r\n  "]


def spell(value: Any, order: random.Random) -> str:  # noqa: ANN401 - any JSON value
    """One of the texts that mean this value."""
    return _space(order) + _spell_bare(value, order) + _space(order)


def _space(order: random.Random) -> str:
    return order.choice(_SPACES)


def _spell_bare(value: Any, order: random.Random) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        members = (
            f"{_space(order)}{spell_text(name, order)}{_space(order)}:{spell(value[name], order)}" for name in names
        )
        return "{" + (",".join(members) or _space(order)) + "}"
    if isinstance(value, list):
        return "[" + (",".join(spell(element, order) for element in value) or _space(order)) + "]"
    if isinstance(value, str):
        return spell_text(value, order)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return order.choice(spell_number(value))


def spell_text(text: str, order: random.Random) -> str:
    """One of the texts that mean this string: raw, short and long escapes, surrogate pairs, either case of digits."""
    eagerness = order.choice([0.0, 0.3, 1.0])
    head, middle, tail = (
        text[:_SPELT_SCALARS],
        text[_SPELT_SCALARS:-_SPELT_SCALARS],
        text[_SPELT_SCALARS:][-_SPELT_SCALARS:],
    )
    spelt = ["".join([_spell_character(character, order, eagerness) for character in part]) for part in (head, tail)]
    return '"' + spelt[0] + json.dumps(middle, ensure_ascii=False)[1:-1] + spelt[1] + '"'


def _spell_character(character: str, order: random.Random, eagerness: float) -> str:
    is_forced = character in '"\\' or character < " "
    if not is_forced and order.random() >= eagerness:
        return character
    if character in _SHORT and order.random() < 0.5:
        return _SHORT[character]
    units = character.encode("utf-16-be")
    digits = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    return "".join("\\u" + (one.upper() if order.random() < 0.5 else one) for one in digits)


def spell_number(value: Any) -> list[str]:  # noqa: ANN401 - an int or a float
    """Texts that all mean this number, the integer spellings of 5 among them: 5, 5.0, 5e0, 50e-1, 0.5E+1."""
    if value == 0:
        return ["0", "-0", "-0.0", "0.0", "0e5", "-0E-3", "0.000e+0"]
    if isinstance(value, float) and not value.is_integer():
        shortest = Decimal(repr(value))
        # Every digit a double has, and as many as are ever needed, mean it as well as the shortest do.
        return [*_move_point(shortest), f"{Decimal(value):f}", f"{value:.17g}", f"{value:.30e}"]
    return [str(int(value)), f"{int(value)}.0", f"{int(value)}.000", *_move_point(Decimal(int(value)))]


def _move_point(number: Decimal) -> list[str]:
    """The same digits with the point elsewhere and the exponent to match."""
    texts = [f"{number:f}", f"{number:f}e0"]
    for places in (-3, -1, 1, 2, 7):
        moved = f"{number.scaleb(places):f}"
        texts += [f"{moved}e{-places}", f"{moved}E{-places:+03d}"]
    return texts
