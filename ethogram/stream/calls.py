"""Tool calls of one run, and which result answers which.

Ids need not be unique: producers have bugs, and some harnesses number anew in each thread. It must never keep what a
tool was given or gave back.

Spec: Agent observation
"""

from collections import deque
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ethogram.envelope import Event, JsonValue
from ethogram.stream.instants import elapsed_ms


@dataclass(frozen=True, slots=True)
class ToolResult:
    """An `agent.tool_result`.

    Attributes:
        tool: as the result names it.
        tool_use_id: the call that it says it answers; None where it does not say.
        parent_tool_use_id: the call that it is nested beneath; None at the top.
        seq: its 1-based `seq`.
        ts: its time stamp, by the sink's clock.
        is_error: whether the harness calls it an error; None where it says nothing.
    """

    tool: str
    tool_use_id: str | None
    parent_tool_use_id: str | None
    seq: int
    ts: str
    is_error: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An `agent.tool_use`, with the result that answers it.

    Attributes:
        tool: the tool's name.
        tool_use_id: the call's id; None where it has none, and then no result is looked for.
        parent_tool_use_id: the call that it is nested beneath; None at the top.
        seq: its 1-based `seq`.
        ts: its time stamp, by the sink's clock.
        result: what answers it; None while nothing does.
    """

    tool: str
    tool_use_id: str | None
    parent_tool_use_id: str | None
    seq: int
    ts: str
    result: ToolResult | None = None

    @property
    def result_seq(self) -> int | None:
        """The `seq` of its result; None where it has none."""
        return None if self.result is None else self.result.seq

    @property
    def is_error(self) -> bool | None:
        """Whether the harness calls its result an error; None where nobody says."""
        return None if self.result is None else self.result.is_error

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds from call to result by the sink's clock; None without a result or without ISO-8601 stamps."""
        return None if self.result is None else elapsed_ms(self.ts, self.result.ts)


_KeyT = TypeVar("_KeyT")


class CallPairing:
    """Pairs the calls and the results of one run while they come, each in constant time on average.

    A result goes to the oldest open call of its id that has the same tool and parent, else to the oldest open one of
    its id.
    """

    __slots__ = ("_calls", "_open_by_id", "_open_by_key", "_results", "_unpaired")

    def __init__(self) -> None:
        """Know no call yet."""
        self._calls: list[ToolCall] = []
        self._results: dict[int, ToolResult] = {}
        self._unpaired: list[ToolResult] = []
        # Places in `_calls`, oldest first. A call that was answered through one queue leaves the other when it gets to
        # its front, so that nothing is searched for.
        self._open_by_id: dict[str | None, deque[int]] = {}
        self._open_by_key: dict[tuple[str | None, str, str | None], deque[int]] = {}

    def use(self, event: Event, payload: Mapping[str, JsonValue]) -> None:
        """Take an `agent.tool_use`.

        Spec: Agent observation
        """
        tool, call_id, parent_id = payload["tool"], payload.get("toolUseId"), payload.get("parentToolUseId")
        if call_id is not None:
            place = len(self._calls)
            self._open_by_id.setdefault(call_id, deque()).append(place)
            self._open_by_key.setdefault((call_id, tool, parent_id), deque()).append(place)
        self._calls.append(ToolCall(tool, call_id, parent_id, event.seq, event.ts))

    def answer(self, event: Event, payload: Mapping[str, JsonValue]) -> None:
        """Take an `agent.tool_result`.

        Spec: Agent observation
        """
        tool, call_id, parent_id = payload["tool"], payload.get("toolUseId"), payload.get("parentToolUseId")
        result = ToolResult(tool, call_id, parent_id, event.seq, event.ts, payload.get("isError"))
        # A call without an id is in no queue, so a result without one finds none.
        queue = self._open_by_key.get((call_id, tool, parent_id)) or self._open_by_id.get(call_id)
        if queue is None:
            self._unpaired.append(result)
            return
        place = queue[0]
        self._results[place] = result
        call = self._calls[place]
        _drop_answered(self._open_by_key, (call.tool_use_id, call.tool, call.parent_tool_use_id), self._results)
        _drop_answered(self._open_by_id, call.tool_use_id, self._results)

    def calls(self) -> tuple[ToolCall, ...]:
        """Every call in the order it came, with its result where it has one.

        Spec: Agent observation
        """
        return tuple(
            call
            if place not in self._results
            else ToolCall(call.tool, call.tool_use_id, call.parent_tool_use_id, call.seq, call.ts, self._results[place])
            for place, call in enumerate(self._calls)
        )

    def unpaired_results(self) -> tuple[ToolResult, ...]:
        """Every result that found no open call of its id, in the order it came.

        Spec: Agent observation
        """
        return tuple(self._unpaired)


def _drop_answered(queues: dict[_KeyT, deque[int]], key: _KeyT, answered: Container[int]) -> None:
    """Let the front of a queue be a call that is open, or the queue be gone."""
    queue = queues[key]
    while queue and queue[0] in answered:
        queue.popleft()
    if not queue:
        del queues[key]
