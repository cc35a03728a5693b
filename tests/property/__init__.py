"""Properties that hold for any input, searched with hypothesis."""
