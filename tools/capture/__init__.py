"""Captures what our own recorder and relay really emit, for the conformance corpus."""
