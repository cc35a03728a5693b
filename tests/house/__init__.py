"""The rules of the house, as tests that say file, line and wanted form."""
