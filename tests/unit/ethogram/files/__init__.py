"""Sinks on files, and following them."""
