"""`python -m infra`: the commands of `keyhaven infra`, where that is not on the path."""

import sys

if sys.version_info < (3, 7):  # noqa: UP036  too old to read the rest and say so itself
    sys.exit("Keyhaven needs Python 3.12 or 3.11.")

from infra.command_line.entry import infra

if __name__ == "__main__":
    infra()
