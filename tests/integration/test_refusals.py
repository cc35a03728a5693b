"""What may not be forwarded is refused: once, for the right cause, in the right words, with its bytes kept.

Each test judges the same records under all four ways to judge a source: holding or advancing, enforcing or reporting.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.faulty import FAULTY, INVALID, OUTPUT_BYTES_MAX, SECRET, TOO_LARGE, Maker
from tests.support.kafka import KafkaBroker
from tests.support.plan import Fault, Planned, SourcePlan, event, finished, started
from tests.support.relay_process import RelayProcess
from tests.support.rig import RECORD_BYTES_DEFAULT, Rig, wait_until
from tests.support.tally import Tally

FOUR_WAYS = (
    SourcePlan("hold-enforce"),
    SourcePlan("advance-enforce", after_refusal="advance"),
    SourcePlan("hold-report", validation="report"),
    SourcePlan("advance-report", validation="report", after_refusal="advance"),
)
LONG_RUN_ID = "é" * 4_097
MALFORMED = Fault("envelope", "malformed")


def four_ways(kafka: KafkaBroker, prefix: str, folder: Path, unified: dict[str, str] | None = None) -> Rig:
    """A rig with the four sources, its topics created."""
    rig = Rig(kafka, prefix, folder, FOUR_WAYS, partitions=2, topic_settings={"unified": unified or {}})
    rig.create_topics()
    return rig


@contextmanager
def judged(rig: Rig) -> Iterator[tuple[RelayProcess, list[Tally]]]:
    """Run a relay around the block; then wait until all is judged, stop it, prove everything, and give the tally."""
    tallies: list[Tally] = []
    with rig.relay() as relay:
        relay.wait_ready()
        yield relay, tallies
        rig.ledger.wait_judged(30)
        metrics = relay.metrics()
        exposed = relay.get("/metrics")
        assert relay.terminate() == 0
    tally = rig.ledger.prove()
    rig.ledger.prove_metrics(tally, metrics)
    assert tally.endings() == {"completed": 1}
    assert SECRET not in str(list(tally.refusals.values())), "content in a refusal"
    assert SECRET not in relay.log(), "content in the log"
    assert SECRET not in str(exposed), "content in the metrics"
    tallies.append(tally)


def around_fault(name: str, maker: Maker, fault_seq: int, partition: int) -> list[Planned]:
    """A run with a fault at a `seq`: what comes after it, the mended event, its sequel, a repetition, and its end."""
    run_id = f"{name}-at-{fault_seq}"

    def right(seq: int) -> Planned:
        return started(run_id, partition=partition) if seq == 1 else event(run_id, seq, partition=partition)

    wrong = maker(run_id, fault_seq)
    wrong = Planned(wrong.value, wrong.key, wrong.run_id, wrong.seq, wrong.type, wrong.fault, (("h", None),), partition)
    before = [right(seq) for seq in range(1, fault_seq)]
    after = [right(seq) for seq in range(fault_seq, fault_seq + 3)]
    repeated = [right(1), wrong]
    end = fault_seq + 3
    return [
        *before,
        wrong,
        after[1],
        *after,
        *repeated,
        finished(run_id, end, partition),
        finished(run_id, end, partition),
        event(run_id, end + 1, partition=partition),
        wrong,
    ]


def test_every_fault_singly(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Each fault is refused for its own cause, at a run's start and in its middle, and its run goes on as told."""
    rig = four_ways(kafka, topic_prefix, tmp_path)
    with judged(rig) as (_relay, tallies):
        for source, way in enumerate(FOUR_WAYS):
            runs = [
                planned
                for number, (name, maker) in enumerate(FAULTY.items())
                for fault_seq in (1, 3)
                for planned in around_fault(f"{way.topic}-{name}", maker, fault_seq, number % 2)
            ]
            rig.produce(source, runs)

    (tally,) = tallies
    findings = {kind for _topic, kind in tally.findings}
    assert findings == {"UnknownMember", "Policy", "OverBound", "PayloadTooLarge"}
    assert {topic for topic, _kind in tally.findings} == set(rig.topics[2:]), "only reporting sources report"
    for topic in rig.topics:
        causes = {cause for source, cause in tally.refused if source == topic}
        wanted = {"malformed", "finished", "duplicate", "gap"}
        assert causes >= wanted | ({"over_bound"} if "enforce" in topic else set())


def drawn_events(rng: random.Random, name: str, count: int) -> list[Planned]:
    """Draw events of forty runs: right ones, faults, gaps, repetitions, and what comes after an end."""
    makers = list(FAULTY.values())
    seqs: dict[str, int] = {}
    planned = []
    for _ in range(count):
        run_id = f"{name}-{rng.randrange(40)}"
        seq = seqs.get(run_id, 1)
        drawn = rng.random()
        if drawn < 0.1:
            planned.append(rng.choice(makers)(run_id, max(1, seq + rng.choice([-1, 0, 0, 1]))))
            # Its number is spent or not, as the source is told; the producer does not know.
            seqs[run_id] = seq + rng.choice([0, 1])
        elif drawn < 0.15:
            planned.append(event(run_id, max(1, seq + rng.choice([-2, -1, 1, 2]))))
        else:
            planned.append(finished(run_id, seq) if drawn > 0.97 else event(run_id, seq))
            seqs[run_id] = seq + 1
    return planned


def test_faults_mixed(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random) -> None:
    """Faults, gaps, repetitions and late events, drawn at random over many runs, come out as the model has them."""
    rig = four_ways(kafka, topic_prefix, tmp_path)
    with judged(rig) as (_relay, tallies):
        for source, way in enumerate(FOUR_WAYS):
            rig.produce(source, drawn_events(rng, way.topic, 600))

    (tally,) = tallies
    assert tally.causes().keys() == {"malformed", "over_bound", "finished", "duplicate", "gap"}


def test_record_larger_than_the_unified_topic_takes(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A record that the unified topic would not take is `over_bound` of the field `record`, whatever the validation."""
    rig = four_ways(kafka, topic_prefix, tmp_path, {"max.message.bytes": str(OUTPUT_BYTES_MAX)})
    with judged(rig) as (_relay, tallies):
        for source, way in enumerate(FOUR_WAYS):
            rig.produce(source, around_fault(way.topic, TOO_LARGE["too_large"], 2, source % 2))
            run_id = f"{way.topic}-edge"
            # A right record of just the size that fits, and one byte more: 61 bytes of batch, 3 + 7 of record, and
            # what the lengths take, as the message format has it.
            overhead = 61 + 3 + 3 + 3 + 1 + 1
            for seq, excess in ((1, 0), (2, 1)):
                planned = event(run_id, seq, "x.unknown", {"a": ["x" * 16_000] * 4, "b": ""})
                room = OUTPUT_BYTES_MAX - overhead - len(planned.value or b"") - len(planned.key or b"") + excess
                payload = {"a": ["x" * 16_000] * 4, "b": "y" * room}
                fields = {"field": "record", "count": OUTPUT_BYTES_MAX + 1, "max": OUTPUT_BYTES_MAX}
                fault = Fault("size", "over_bound", fields) if excess else None
                rig.produce(source, [event(run_id, seq, "x.unknown", payload, fault=fault)])

    (tally,) = tallies
    # One in the middle of a run (its repetition is a duplicate by then) and one a byte over the edge.
    over_bound = {topic: tally.refused[topic, "over_bound"] for topic in rig.topics}
    assert over_bound == dict.fromkeys(rig.topics, 2)


def test_mended_event_lets_a_held_run_go_on(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A held run waits for the refused `seq`, is counted as held, and goes on when the mended event arrives."""
    rig = Rig(kafka, topic_prefix, tmp_path, FOUR_WAYS[:1])
    rig.create_topics()
    with judged(rig) as (relay, tallies):
        wrong = INVALID["field_bound"]("r", 2)
        rig.produce(0, [started("r"), wrong, event("r", 3), event("r", 4)])
        rig.ledger.wait_judged()
        wait_until(lambda: relay.metrics().value("ethogram_relay_held_runs") == 1, 10, "one held run")
        assert relay.metrics().value("ethogram_relay_open_runs") == 1
        rig.produce(0, [event("r", 2), event("r", 3), event("r", 2), event("r", 4), finished("r", 5)])
        rig.ledger.wait_judged()
        wait_until(lambda: relay.metrics().value("ethogram_relay_held_runs") == 0, 10, "no held run")
        wait_until(lambda: relay.metrics().value("ethogram_relay_open_runs") == 0, 10, "no open run")

    (tally,) = tallies
    assert tally.forwarded.total() == 5
    assert tally.causes() == {"over_bound": 1, "gap": 2, "duplicate": 1}


def test_run_from_another_source_is_malformed(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """The source that first carried a run owns it; from another it is malformed, and the owner's cursor stays."""
    rig = four_ways(kafka, topic_prefix, tmp_path)
    with judged(rig) as (_relay, tallies):
        rig.produce(0, [started("shared"), event("shared", 2)])
        rig.produce(1, [INVALID["unknown_kind"]("advanced", 1)])
        rig.produce(2, [INVALID["unknown_kind"]("reported", 1)])
        rig.ledger.wait_judged()
        for source in (1, 2, 3):
            rig.produce(source, [event("shared", 3), finished("shared", 4), started("shared")])
        # A refused event that an advancing source let pass owns its run, too; a forwarded one anyway.
        rig.produce(0, [event("advanced", 2), event("reported", 2)])
        rig.ledger.wait_judged()
        rig.produce(0, [event("shared", 3), finished("shared", 4)])
        rig.produce(1, [finished("advanced", 2)])
        rig.produce(2, [finished("reported", 2)])
        rig.ledger.wait_judged()
        rig.produce(3, [event("shared", 5)])

    (tally,) = tallies
    foreign = [payload for place, payload in tally.refusals.items() if place.topic in rig.topics[2:]]
    assert len(foreign) == 7
    for place, payload in tally.refusals.items():
        if payload["sourceRunId"] == "shared":
            assert rig.topics[0] in payload["detail"]
            assert place.topic in payload["detail"]


def test_reserved_run_id_is_malformed(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A source may not carry a run whose id begins as the relay's own runs do."""
    rig = four_ways(kafka, topic_prefix, tmp_path)
    with judged(rig) as (_relay, tallies):
        for source in range(4):
            run_id = f"{rig.name}/relay-0/{source}"
            rig.produce(source, [event(run_id, 1, fault=MALFORMED), event(f"{rig.name}x/{source}", 1)])

    (tally,) = tallies
    assert tally.causes() == {"malformed": 4}
    assert tally.forwarded.total() == 4


def test_unnamed_and_very_long_runs(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A record that names no run is known by its place; a run id over 4,096 scalars is cut, and its hash kept."""
    rig = four_ways(kafka, topic_prefix, tmp_path)
    with judged(rig) as (_relay, tallies):
        for source in range(4):
            run_id = f"{source}{LONG_RUN_ID}"
            unnamed = [Planned(b"\xff", key, None, fault=MALFORMED) for key in (None, b"\xff\xfe")]
            by_key = Planned(b"{", run_id.encode(), run_id, fault=MALFORMED)
            rig.produce(source, [*unnamed, by_key, started(run_id), event(run_id, 3), finished(run_id, 2)])

    (tally,) = tallies
    assert tally.causes() == {"malformed": 12, "gap": 4}
    assert tally.forwarded.total() == 8


def test_largest_record_is_kept_when_refused(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """The largest record that a source takes, refused, is in the quarantine whole; the partition goes on behind it."""
    rig = Rig(kafka, topic_prefix, tmp_path, FOUR_WAYS[:1])
    rig.create_topics()
    large = RECORD_BYTES_DEFAULT - 200
    value_heavy = Planned(b"{" * large, b"value-heavy", "value-heavy", fault=MALFORMED, partition=0)
    headers = (("h", b"x" * 500_000), ("h", b"y" * 500_000))
    header_heavy = Planned(b"{", b"header-heavy", "header-heavy", fault=MALFORMED, headers=headers, partition=0)
    with judged(rig) as (_relay, tallies):
        rig.produce(0, [value_heavy, header_heavy, started("behind", partition=0)])

    (tally,) = tallies
    assert tally.causes() == {"malformed": 2}
    assert tally.forwarded.total() == 1


def test_record_with_a_very_long_key_is_kept_when_refused(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path
) -> None:
    """A refused record of the largest size, most of it key, is in the quarantine, too, and stops nothing."""
    rig = Rig(kafka, topic_prefix, tmp_path, FOUR_WAYS[:1])
    rig.create_topics()
    key = b"k" * 400_000
    value = b"{" * (RECORD_BYTES_DEFAULT - 200 - len(key))
    key_heavy = Planned(value, key, key.decode(), fault=MALFORMED, partition=0)
    with judged(rig) as (_relay, tallies):
        rig.produce(0, [key_heavy, started("behind", partition=0)])

    (tally,) = tallies
    assert tally.causes() == {"malformed": 1}
    assert tally.forwarded.total() == 1
