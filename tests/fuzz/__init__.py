"""A coverage-guided fuzzer of the kit: targets, seeds, and the command that runs them; apart from the tests."""
