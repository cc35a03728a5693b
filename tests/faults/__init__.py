"""Real relay processes under injected faults; each test ends by counting."""
