"""What writes files of this repository: run by hand or by make, never installed."""
