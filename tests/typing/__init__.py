"""The public API as a user writes it, held to strict types."""
