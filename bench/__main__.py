"""`python -m bench` measures the service and prints tables; `--quick` with a quarter of the runs.

Each part runs in processes of its own, on loopback, with the storage in another process. CPU is
that of the measured process alone. Figures are medians, with the least and the greatest behind
them; ratios are medians of pairs that were measured one after the other.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from bench import lived, serving, surroundings

RSA_SERVER = surroundings.ROOT / "tests" / "fixtures" / "keys" / "server_rsa.private.asc"


def main() -> None:
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="keyhaven-bench-") as folder:
        against_floors(Path(folder), arguments)
        print("\nOn `make serve`, one client; beside it the PHP server over MariaDB, two cores\n")
        is_quick = "--quick" in arguments
        data = serving.measure(Path(folder), is_quick=is_quick)
        print("\nOn `make serve`, a tenant filled through the API, then after a restart\n")
        lived.measure(data, is_quick=is_quick)


def against_floors(folder: Path, arguments: list[str]) -> None:
    keys = folder / "keys"
    keys.mkdir()
    env = surroundings.environment(keys)
    with surroundings.running("bench.dynamodb", env) as url:
        there = {**env, "DYNAMODB_ENDPOINT": url}
        print("Requests: storage round trips in sequence, rows, CPU, peak memory\n")
        surroundings.show("bench.endpoints", there, *arguments)
        print("\nShares with groups, and their end: what a member costs should stay the same\n")
        surroundings.show("bench.growth", there, *arguments)
        print("\nLists of a vault that grows: what an item costs should stay the same\n")
        surroundings.show("bench.vaults", there, *arguments)
        print("\nLogs that grow: what their first page costs should stay nearly the same\n")
        surroundings.show("bench.logs", there, *arguments)
        print("\nRuns of the directory synchronisation: what an entry costs\n")
        surroundings.show("bench.directory", there, *arguments)
        rsa = {**there, "KEY_FOLDER": str(_with_rsa(keys))}
        print("\nThe same with an RSA 3072 server key\n")
        surroundings.show("bench.endpoints", rsa, *arguments, "sign in, RSA 3072")
        print("\nCold starts: a process from its start to its end; goal ≤ 1.3\n")
        surroundings.show("bench.starts", there, *arguments)


def _with_rsa(keys: Path) -> Path:
    """The tenant's folder, but for the server key."""
    folder = Path(shutil.copytree(keys, keys.with_name("rsa")))
    (folder / "openpgp.asc").write_bytes(RSA_SERVER.read_bytes())
    return folder


if __name__ == "__main__":
    main()
