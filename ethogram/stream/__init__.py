"""Streams of interleaved runs, folded: what is open, what belongs to what, what it cost.

Spec: Run lifecycle
"""

from ethogram.stream.calls import ToolCall, ToolResult
from ethogram.stream.controls import Control, ControlApplication
from ethogram.stream.decisions import Decision, DecisionAnswer
from ethogram.stream.fold import StreamFold, fold_stream
from ethogram.stream.run import Oddity, OddityKind, StreamRun
from ethogram.stream.spending import AgentSession, Totals, UsageTotal, total_of
from ethogram.stream.tree import RootReason
from ethogram.stream.view import StreamView, TreeRoot, TreeStep

__all__ = [
    "AgentSession",
    "Control",
    "ControlApplication",
    "Decision",
    "DecisionAnswer",
    "Oddity",
    "OddityKind",
    "RootReason",
    "StreamFold",
    "StreamRun",
    "StreamView",
    "ToolCall",
    "ToolResult",
    "Totals",
    "TreeRoot",
    "TreeStep",
    "UsageTotal",
    "fold_stream",
    "total_of",
]
