"""Unit tests of metrics, probes and the listener."""
