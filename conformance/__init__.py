"""Replays vectors, inputs with the verdict a conforming implementation gives, against the kit.

Spec: The founding decision: two implementations, one corpus
"""
