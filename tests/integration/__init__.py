"""Tests on a real broker."""
