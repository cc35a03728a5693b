"""Tests of the local Kafka's pure parts."""
