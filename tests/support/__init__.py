"""What tests share: brokers, records, processes."""
