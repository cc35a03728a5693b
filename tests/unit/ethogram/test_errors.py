"""The error tree."""

import pytest

import ethogram
from ethogram.errors import shorten_path


def test_every_error_is_of_the_tree() -> None:
    """One base catches all that the kit raises on purpose."""
    errors = [value for name, value in vars(ethogram).items() if name.endswith("Error")]
    assert len(errors) == 8
    assert all(issubclass(error, ethogram.EthogramError) for error in errors)


def test_parse_error_shows_no_content() -> None:
    """A text names paths and positions; what was read stays out of it."""
    for raw in (
        b'{"secret',
        b'{"v":1,"type":"secret","runId":"secret","seq":"secret","ts":"t","payload":{}}',
        b'{"v":1,"type":"agent.text","runId":"secret","seq":1,"ts":"t","payload":{"text":["secret"]}}',
        b'{"v":1,"type":"secret","runId":"r","seq":1,"ts":"t","payload":"secret \xff"}',
    ):
        with pytest.raises(ethogram.ParseError) as caught:
            ethogram.parse_event(raw)
        assert "secret" not in str(caught.value)


def test_paths_are_cut_in_texts_alone() -> None:
    """A key as long as a payload does not make a text as long, while the path stays whole."""
    key = "k" * 5000
    with pytest.raises(ethogram.ValidationError) as caught:
        ethogram.validate("x", {key: "a" * 16_385})
    assert caught.value.details["path"] == f"payload.{key}"
    assert len(str(caught.value)) < 400
    assert shorten_path("\ud800") == "?"


def test_sequence_error_tells_gap_from_duplicate() -> None:
    """More than expected is a gap, less a duplicate."""
    assert "gap" in str(ethogram.SequenceError("r", 1, 2))
    assert "duplicate" in str(ethogram.SequenceError("r", 2, 1))
