"""The tools of this repository."""
