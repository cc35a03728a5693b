"""The operations that vectors exercise, by name. A new operation is one module and one line here.

Spec: The founding decision: two implementations, one corpus
"""

from collections.abc import Callable
from typing import Any

from conformance.adapters.decision import decide
from conformance.adapters.excerpt import cut
from conformance.adapters.fold import fold
from conformance.adapters.parse import parse
from conformance.adapters.refuse import refuse
from conformance.adapters.sink import append
from conformance.adapters.validate import check

Adapter = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes a vector's input and gives the kit's verdict in the shape of `expect`."""

ADAPTERS: dict[str, Adapter] = {
    "decision": decide,
    "excerpt": cut,
    "fold": fold,
    "parse": parse,
    "refuse": refuse,
    "sink": append,
    "validate": check,
}
"""The registry that the runner looks operations up in."""

__all__ = ["ADAPTERS", "Adapter"]
