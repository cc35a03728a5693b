"""The version 1 vocabulary as data: every event type, its fields, their kinds, closed sets and bounds.

It must never hold a rule; what is written here is enforced by `parse` (kinds, required fields) and by `validate`
(closed sets, bounds). Types outside it are open.

Spec: Status
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ethogram.vocabulary.agent import AGENT_FAMILY
from ethogram.vocabulary.capture import CAPTURE_FAMILY
from ethogram.vocabulary.control import CONTROL_FAMILY
from ethogram.vocabulary.decision import DECISION_FAMILY
from ethogram.vocabulary.run import RUN_FAMILY
from ethogram.vocabulary.shape import ClosedSet, EventType, Family, Field, FieldKind, Member

FAMILIES: Final = (RUN_FAMILY, AGENT_FAMILY, CONTROL_FAMILY, CAPTURE_FAMILY, DECISION_FAMILY)
"""Every family, in the spec's order."""

VOCABULARY: Final[Mapping[str, EventType]] = MappingProxyType(
    {event_type.name: event_type for family in FAMILIES for event_type in family.types}
)
"""Every event type by its wire name."""

__all__ = ["FAMILIES", "VOCABULARY", "ClosedSet", "EventType", "Family", "Field", "FieldKind", "Member"]
