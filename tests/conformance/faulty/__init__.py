"""Kits that are wrong on purpose, behind the line protocol like any other."""
