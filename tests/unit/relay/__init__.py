"""Unit tests of the relay, a module for each of its modules. No broker, no sleep, a clock that stands still."""
