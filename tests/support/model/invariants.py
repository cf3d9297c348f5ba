"""What must hold after every step of every test: see `integrity/invariants.py`."""

from __future__ import annotations

from chalicelib.settings import settings
from chalicelib.storage.base import every_table
from integrity.invariants import violations
from tests.support.storage import Storage


def check_invariants(store: Storage) -> None:
    """Fail the test with all that is wrong in what is stored."""
    names = [table.stored_as() for table in every_table()]
    found = violations({n.removeprefix(settings.table_prefix): store.rows(n) for n in names})
    assert not found, "\n".join(map(str, found))
