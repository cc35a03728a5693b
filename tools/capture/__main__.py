"""`python -m tools.capture [--out DIR]`: capture every variant that our recorder and relay emit, and keep what is new.

It starts a local Apache Kafka. What has landed in the corpus is never changed; a variant that is there is passed over.
"""

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.kafka.kafka_local.jars import KAFKA_VERSION
from ethogram import parse_event
from tools.capture import recordings, relaying
from tools.capture.corpus import CaptureFault, add, landed_variants
from tools.capture.variants import variant_of

_CORPUS: Final = Path(__file__).parents[2] / "conformance" / "v1"


def main() -> int:
    """Capture, and write what is new.

    Returns:
        0; 1 where a capture is not as declared, or something was emitted that no variant was declared for.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.capture", description=__doc__)
    parser.add_argument("--out", type=Path, default=_CORPUS, help="the corpus; default: conformance/v1")
    root = parser.parse_args().out
    captures, emitted = [], list[bytes]()
    try:
        for recording in recordings.RECORDINGS:
            with tempfile.TemporaryDirectory() as folder:
                capture, events = recordings.capture(recording, Path(folder))
            captures.append(capture)
            emitted += events
        with tempfile.TemporaryDirectory() as folder:
            relayed, events = relaying.capture(Path(folder), KAFKA_VERSION)
        captures += relayed
        emitted += events
        written = add(root, captures, datetime.now(UTC).date().isoformat())
        landed = landed_variants(root)
        undeclared = {variant_of(parse_event(wire)) for wire in emitted} - landed.keys()
    except CaptureFault as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    sys.stdout.writelines(f"{name}: written\n" for name in written)
    sys.stdout.writelines(f"undeclared: {variant}\n" for variant in sorted(undeclared))
    sys.stdout.write(f"{len(landed)} variants, {len(written)} of them new\n")
    return 1 if undeclared else 0


if __name__ == "__main__":
    sys.exit(main())
