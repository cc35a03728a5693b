"""Decisions: what runs asked, and what was answered, usually on another run. Ids alone correlate the two.

It must never keep a dossier or an option's label, and never check an answer against its request.

Spec: Decisions
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ethogram.envelope import JsonValue


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
    """A `decision.answered`.

    Attributes:
        decision_id: the decision.
        run_id: the run that applied the answer.
        seq: the answer's 1-based `seq` on it.
        option_id: what was chosen: an offered option or a reversal.
        by: who answered, by identity.
        by_timeout: whether nobody answered in time.
        reversal: what would undo it; None where the answer does not say.
        requested_run_id: the run that asked; None where the answer does not say.
    """

    decision_id: str
    run_id: str
    seq: int
    option_id: str
    by: str
    by_timeout: bool = False
    reversal: str | None = None
    requested_run_id: str | None = None

    @classmethod
    def read(cls, run_id: str, seq: int, payload: Mapping[str, JsonValue]) -> "DecisionAnswer":
        """Read one from the payload of a `decision.answered`, which must be representable.

        Args:
            run_id: the run that it stands on.
            seq: its 1-based `seq` there.
            payload: its payload; not kept.

        Spec: Decisions
        """
        return cls(
            payload["decisionId"],
            run_id,
            seq,
            payload["optionId"],
            payload["by"],
            by_timeout=payload.get("byTimeout", False),
            reversal=payload.get("reversal"),
            requested_run_id=payload.get("requestedRunId"),
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that a run asked for, with its answers from anywhere in the stream.

    Attributes:
        decision_id: its id.
        kind: as the first request has it, familiar or not.
        subject: what it is about, by reference.
        expires_at: when it expires, as the first request has it.
        on_timeout: the option that stands if nobody answers; None leaves it open.
        requested_seqs: the `seq` of each request; more than one where the run repeats the id.
        answers: every answer, sorted by run id and `seq`: what undoes an answer is one more.
    """

    decision_id: str
    kind: str
    subject: str | None = None
    expires_at: str | None = None
    on_timeout: str | None = None
    requested_seqs: tuple[int, ...] = ()
    answers: tuple[DecisionAnswer, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether no answer was seen."""
        return not self.answers


class DecisionsFold:
    """Folds what one run asks while its events come."""

    __slots__ = ("_requests", "_seqs")

    def __init__(self) -> None:
        """Know no request yet."""
        self._requests: dict[str, Decision] = {}
        self._seqs: dict[str, list[int]] = {}

    def request(self, seq: int, payload: Mapping[str, JsonValue]) -> str:
        """Take a `decision.requested`.

        Returns:
            The decision's id.

        Spec: Decisions
        """
        decision_id: str = payload["decisionId"]
        if decision_id not in self._requests:
            about, until, default = payload.get("subject"), payload.get("expiresAt"), payload.get("onTimeout")
            self._requests[decision_id] = Decision(decision_id, payload["kind"], about, until, default)
        self._seqs.setdefault(decision_id, []).append(seq)
        return decision_id

    def decisions(self, answers: Mapping[str, tuple[DecisionAnswer, ...]]) -> tuple[Decision, ...]:
        """Every decision in the order of first sight.

        Args:
            answers: the answers that are this run's, by decision.

        Spec: Decisions
        """
        return tuple(
            Decision(
                decision_id,
                held.kind,
                held.subject,
                held.expires_at,
                held.on_timeout,
                tuple(self._seqs[decision_id]),
                answers.get(decision_id, ()),
            )
            for decision_id, held in self._requests.items()
        )


class AnswersIndex:
    """Who asked and who answered, across the runs of a stream."""

    __slots__ = ("_answers", "_asking")

    def __init__(self) -> None:
        """Know no decision yet."""
        self._asking: dict[str, set[str]] = {}
        self._answers: dict[str, list[DecisionAnswer]] = {}

    def ask(self, decision_id: str, run_id: str) -> None:
        """Note that a run asked.

        Spec: Decisions
        """
        self._asking.setdefault(decision_id, set()).add(run_id)

    def answer(self, answer: DecisionAnswer) -> None:
        """Note an answer.

        Spec: Decisions
        """
        self._answers.setdefault(answer.decision_id, []).append(answer)

    def by_run(self) -> dict[str, dict[str, tuple[DecisionAnswer, ...]]]:
        """The answers of each run that asked, by decision.

        Where several runs asked under one id, an answer that names one of them is that one's, and one that names none
        of them is each one's.

        Spec: Decisions
        """
        found: dict[str, dict[str, tuple[DecisionAnswer, ...]]] = {}
        for decision_id, answers in self._answers.items():
            asking = self._asking.get(decision_id, set())
            named: dict[str | None, list[DecisionAnswer]] = {}
            for answer in answers:
                asker = answer.requested_run_id
                named.setdefault(asker if asker in asking else None, []).append(answer)
            for run_id in asking:
                own = [*named.get(run_id, ()), *named.get(None, ())]
                if own:
                    found.setdefault(run_id, {})[decision_id] = tuple(sorted(own, key=_order))
        return found

    def unmatched(self) -> tuple[DecisionAnswer, ...]:
        """The answers to decisions that no run of the stream asked for, sorted by decision, run and `seq`.

        Spec: Decisions
        """
        stray = [one for decision_id, held in self._answers.items() if decision_id not in self._asking for one in held]
        return tuple(sorted(stray, key=lambda answer: (answer.decision_id, *_order(answer))))


def _order(answer: DecisionAnswer) -> tuple[str, int]:
    """What answers to one decision are sorted by, whatever order they came in."""
    return answer.run_id, answer.seq
