"""Replays of vectors and captures against the kit."""
