"""Unit tests of the protocol kit, one module for each of its own."""
