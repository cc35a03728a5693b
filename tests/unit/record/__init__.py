"""The recorder, on real processes."""
