"""The demonstration: recorded commands, broken on purpose, through a relay that is then held to every byte."""
