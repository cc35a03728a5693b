"""Properties of the relay's core."""
