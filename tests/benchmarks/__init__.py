"""Ratios of the relay and the kit against bare copies of the same work, within one run. Never part of the tests."""
