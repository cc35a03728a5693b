"""Writes what comes from the vocabulary: the payload classes and the reference page."""
