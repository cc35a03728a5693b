"""Unit tests of folded streams."""
