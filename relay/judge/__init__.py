"""The judgement core: bytes and a run's state in, a verdict and a new state out. No clock, no log, no Kafka."""
