"""Every number of the protocol, once, with its unit in its name.

It holds constants only; it must never hold a rule.

Spec: On narration
"""

from typing import Final

SCHEMA_VERSION: Final = 1
"""The envelope's `v`."""

MAX_TEXT_SCALARS: Final = 16_384
"""Unicode scalar values in any string leaf of a payload, and in `agent.text.text`."""

MAX_EXCERPT_SCALARS: Final = 4_096
"""Unicode scalar values in tool excerpts, reasons, warnings, control text, dossier narration and option labels."""

MAX_PAYLOAD_BYTES: Final = 131_072
"""Bytes of a payload's canonical UTF-8 serialisation, the envelope left out."""

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest magnitude of an integral number; also the last `seq` there is."""

FIRST_SEQ: Final = 1
"""The `seq` of a run's first event."""

MAX_PAYLOAD_DEPTH: Final = 1_023
"""Levels of arrays and objects in a payload; the JSON reader takes 1,024 with the envelope. The spec asks no figure."""

MAX_CANONICAL_GROWTH: Final = 4
"""Canonical bytes per received byte, at most: `1e15` (4 bytes) is written with 16, and no other token grows so much."""

MAX_MESSAGE_PATH_SCALARS: Final = 256
"""Unicode scalar values of a path inside an error's text; its `path` field is never cut."""
