"""Unit tests of what can be shown of Kafka's edge without a broker."""
