"""The relay: many source topics in, one unified topic out, exactly once.

Read `relay/DESIGN.md` for the map, then `relay/loop.py`.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("ethogram-relay")
