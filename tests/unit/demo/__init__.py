"""The demonstration's pure parts."""
