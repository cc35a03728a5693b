"""The version 1 vocabulary as data: every event type, its fields, their kinds, closed sets and bounds.

It must never hold a rule; what is written here is enforced by `parse` (kinds, required fields) and by `validate`
(closed sets, bounds). Types outside it are open.

Spec: Status
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ethogram.vocabulary.agent import AGENT_TYPES
from ethogram.vocabulary.capture import CAPTURE_TYPES
from ethogram.vocabulary.control import CONTROL_TYPES
from ethogram.vocabulary.decision import DECISION_TYPES
from ethogram.vocabulary.run import RUN_TYPES
from ethogram.vocabulary.shape import EventType, Field, FieldKind

VOCABULARY: Final[Mapping[str, EventType]] = MappingProxyType(
    {
        event_type.name: event_type
        for event_type in (*RUN_TYPES, *AGENT_TYPES, *CONTROL_TYPES, *CAPTURE_TYPES, *DECISION_TYPES)
    }
)

__all__ = ["VOCABULARY", "EventType", "Field", "FieldKind"]
