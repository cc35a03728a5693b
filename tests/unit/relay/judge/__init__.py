"""Unit tests of the judgement core."""
