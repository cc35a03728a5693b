"""Tests: unit, property, house and typing alone; conformance, integration and faults with data or a broker."""
