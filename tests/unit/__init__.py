"""Tests without a broker: they mirror the packages."""
