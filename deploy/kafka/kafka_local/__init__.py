"""A real Apache Kafka on loopback from packages alone: one implementation for `deploy/kafka/broker` and the tests."""
