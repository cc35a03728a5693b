"""Kafka's edge: the only modules that import the client. Records in, transactions out."""
