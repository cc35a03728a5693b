"""`python -m relay` is `ethogram-relay`."""

import sys

from relay.cli import main

if __name__ == "__main__":
    sys.exit(main())
