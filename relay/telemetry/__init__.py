"""What happened, as facts; metrics, logs and probes are listeners of them."""
