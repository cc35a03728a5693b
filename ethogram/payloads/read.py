"""From an event's plain payload to the class of its type.

It must never lose what the vocabulary does not know: a foreign type comes out whole, a foreign field in `extra`.

Spec: Agent observation
"""

from typing import cast

from ethogram.envelope import Event, EventDraft
from ethogram.errors import ParseError
from ethogram.payloads.base import UnknownPayload
from ethogram.payloads.registry import PAYLOAD_CLASSES, Payload
from ethogram.representable import find_payload_fault, is_plainly_representable


def read_payload(source: Event | EventDraft) -> Payload:
    """Read a payload as a value of its type's class, to match on and to complete from.

    Args:
        source: an event or a draft; not changed.

    Returns:
        A value of the class that is named after its type, `AgentToolUse` for `agent.tool_use`; `UnknownPayload` for a
        type outside the vocabulary. Its `draft()` has the same canonical bytes as the payload.

    Raises:
        ParseError: the payload is not representable, so no parsed event's; stage `payload`.

    Spec: Agent observation
    """
    payload_class = PAYLOAD_CLASSES.get(source.type)
    if not is_plainly_representable(source.type, source.payload):
        fault = find_payload_fault(source.type, source.payload)
        if fault is not None:
            raise ParseError(fault.path, fault.fault, stage="payload", type=source.type)
    if payload_class is None:
        return UnknownPayload(source.type, source.payload)
    # The registry holds the classes of the union and no other; a test compares the two.
    return cast("Payload", payload_class.from_json(source.payload))
