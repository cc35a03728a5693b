"""One behaviour suite over every implementation of an interface."""
