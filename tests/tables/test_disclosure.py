"""Secrets leave the tables once it is logged who reads them, with an item of their revision."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib.domain.errors import Stale, Unavailable
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access.disclosure import (
    SealedSecrets,
    Undisclosed,
    disclose,
    disclose_to_author,
    log_held,
    logged_by,
)
from chalicelib.services.items.resources import resources
from chalicelib.storage import reading
from chalicelib.tables.items.holdings import Holding, Withheld
from chalicelib.tables.logs import readings
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading
from chalicelib.views.items.secrets import secret
from tests.support.faults.hooks import WRITES, Failing, throttled
from tests.support.world import make
from tests.support.world.items.resources import secret_of

ROOT = Path(__file__).parents[2]
OUTSIDE = sorted(
    set((ROOT / "chalicelib").rglob("*.py"))
    - {*(ROOT / "chalicelib/tables").rglob("*"), *(ROOT / "chalicelib/storage").rglob("*")}
    - {ROOT / "chalicelib/services/access/disclosure.py"}
)
READ = PermissionType.READ


def _seen(who, resource_id):
    return resources.view(who.actor, resource_id)


def _undisclosed(who, resource_id, revision=None):
    seen = _seen(who, resource_id)
    return seen.undisclosed if revision is None else Undisclosed(revision, seen.holding)


def _logged(store):
    rows = [Reading.from_raw(row) for row in store.rows(Reading.stored_as())]
    return [(item, row.user_id) for row in rows for item in row.resource_ids]


# Disclosing


def test_secrets_are_disclosed_and_logged(store, ada, betty):
    items = [make.resource(ada, {betty: READ}) for _ in range(2)]

    disclosed = disclose(betty.actor, [_undisclosed(betty, item) for item in items])

    assert [row["secret_data"]["S"] for row in disclosed] == [secret_of(betty, i) for i in items]
    assert sorted(_logged(store)) == sorted((item, betty.id) for item in items)


def test_the_log_comes_first(ada):
    secret = _undisclosed(ada, make.resource(ada))

    with Failing(throttled, times=1_000, only=WRITES), pytest.raises(Unavailable):
        disclose(ada.actor, [secret])


def test_more_than_a_row_holds_are_on_record_before_any_leaves(store, ada, monkeypatch):
    monkeypatch.setattr(readings, "MOST", 2)
    items = [make.resource(ada) for _ in range(5)]

    disclose(ada.actor, [_undisclosed(ada, item) for item in items])

    assert [len(Reading.from_raw(row).resource_ids) for row in store.rows("test-readings")] == [
        *(2, 2, 1)
    ]
    assert sorted(_logged(store)) == sorted((item, ada.id) for item in items)


def test_of_items_of_another_revision_nothing_is_disclosed_nor_logged(store, ada):
    first, second = make.resource(ada), make.resource(ada)
    mixed = [_undisclosed(ada, first), _undisclosed(ada, second, {"S": "another"})]

    with pytest.raises(Stale):
        disclose(ada.actor, mixed)
    assert _logged(store) == []


def _sealed(who, *items):
    sealed = SealedSecrets(secret)
    for item in items:
        seen = _seen(who, item)
        sealed.seal(seen.row, seen.holding)
    return sealed


def test_of_a_list_what_is_shown_is_told_and_logged_and_nothing_else(store, ada, betty):
    shown, other = make.resource(ada, {betty: READ}), make.resource(ada, {betty: READ})

    [told] = _sealed(betty, shown, other).disclose(betty.actor, [shown])

    assert told["data"] == secret_of(betty, shown)
    assert _logged(store) == [(shown, betty.id)]


def test_of_a_list_the_log_comes_first(ada):
    item = make.resource(ada)
    sealed = _sealed(ada, item)

    with Failing(throttled, times=1_000, only=WRITES), pytest.raises(Unavailable):
        sealed.disclose(ada.actor, [item])


def test_a_list_takes_no_secret_of_another_revision(store, ada):
    seen = _seen(ada, make.resource(ada))

    with pytest.raises(Stale):
        SealedSecrets(secret).seal({**seen.row, "secret_revision": {"S": "another"}}, seen.holding)
    assert _logged(store) == []


def test_what_has_no_secret_is_listed_without(ada):
    seen = _seen(ada, make.resource(ada))
    sealed = SealedSecrets(secret)
    names = [name for name in seen.holding if name.startswith("secret_")]
    bare = {name: value for name, value in seen.holding.items() if name not in names}

    sealed.seal({**seen.row, "secret_revision": None}, bare)

    assert sealed.disclose(ada.actor, [seen.row["id"]["S"]]) == [None]


def test_what_is_logged_beside_the_reading_is_disclosed(store, ada):
    resource_id = make.resource(ada)

    logged = log_held(ada.actor, resource_id)

    assert logged.disclose(_undisclosed(ada, resource_id))["secret_data"]["S"] == secret_of(
        ada, resource_id
    )
    assert _logged(store) == [(resource_id, ada.id)]


def test_nothing_is_logged_of_who_has_no_secret(store, ada, betty):
    assert log_held(betty.actor, make.resource(ada)) is None
    assert _logged(store) == []


def test_the_line_of_one_item_discloses_no_other(ada):
    logged = log_held(ada.actor, make.resource(ada))

    with pytest.raises(AssertionError):
        logged.disclose(_undisclosed(ada, make.resource(ada)))


def test_the_line_of_one_user_discloses_nothing_to_another(ada, betty):
    resource_id = make.resource(ada, {betty: READ})
    change = ActionLog.of(resource_id, "Resources.updated", ada.id, ada.actor.caller)

    with pytest.raises(AssertionError):
        logged_by(change).disclose(_undisclosed(betty, resource_id))


def test_a_line_discloses_nothing_of_another_revision(ada):
    resource_id = make.resource(ada)

    with pytest.raises(Stale):
        log_held(ada.actor, resource_id).disclose(_undisclosed(ada, resource_id, {"S": "another"}))


def test_what_its_author_reads_again_is_not_logged(store, ada):
    resource_id = make.resource(ada)

    disclosed = disclose_to_author(ada.actor, _undisclosed(ada, resource_id))

    assert disclosed["secret_data"]["S"] == secret_of(ada, resource_id)
    assert _logged(store) == []


def test_what_another_has_written_since_is_logged(store, ada, betty):
    resource_id = make.resource(ada)
    row = Holding.of_row(_seen(ada, resource_id).holding)
    row.secret_modified_by = betty.id
    row.save()

    disclose_to_author(ada.actor, _undisclosed(ada, resource_id))

    assert _logged(store) == [(resource_id, ada.id)]


# Services that forget

FORGETFUL = """
from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import ResourceId
from chalicelib.services.items.resources import resources
from chalicelib.storage import reading
from chalicelib.services.access.disclosure import Disclosed, Undisclosed, log_held
from chalicelib.tables.items.holdings import Holding
from chalicelib.views.items.secrets import SecretJson, secret


def tells_the_secret(actor: Actor, item: ResourceId) -> str:
    return resources.view(actor, item).holding["secret_data"]["S"]  # refused


def returns_the_holding(actor: Actor, item: ResourceId) -> Disclosed:
    return resources.view(actor, item).holding  # refused


def shows_the_holding(actor: Actor, item: ResourceId) -> SecretJson:
    return secret(resources.view(actor, item).holding)  # refused


def shows_each_of_a_list(actor: Actor) -> list[SecretJson]:
    return [secret(row) for row in Holding.whole(actor.id)]  # refused


def tells_the_attribute(actor: Actor, item: ResourceId) -> str | None:
    row = reading.read([Holding.of(actor.id, item)]).find(Holding, actor.id, item)
    return None if row is None else row.secret_data  # refused


def forgets_the_revision(actor: Actor, item: ResourceId) -> Disclosed | None:
    logged = log_held(actor, item)
    return logged.disclose(resources.view(actor, item).holding) if logged else None  # refused


def forgets_whether_it_is_logged(actor: Actor, item: ResourceId) -> Disclosed:
    return log_held(actor, item).disclose(resources.view(actor, item).undisclosed)  # refused


def forgets_nothing(actor: Actor, item: ResourceId) -> Disclosed | None:
    logged = log_held(actor, item)
    return None if logged is None else logged.disclose(resources.view(actor, item).undisclosed)
"""


def test_a_service_that_forgets_does_not_type_check(tmp_path):
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    refused = [n for n, line in enumerate(FORGETFUL.split("\n"), 1) if line.endswith("# refused")]

    run = subprocess.run(
        [sys.executable, "-m", "mypy", str(tmp_path / "forgetful.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    told = [line.split(":") for line in run.stdout.splitlines() if ": error: " in line]
    assert {(Path(path).name, int(line)) for path, line, *_ in told} == {
        ("forgetful.py", line) for line in refused
    }, run.stdout


def test_a_holding_that_was_read_is_not_told_raw(ada):
    key = Holding.of(ada.id, make.resource(ada))

    with pytest.raises(AssertionError, match="Holding says itself"):
        reading.read([key]).raw(key)
    with pytest.raises(AssertionError, match="Holding says itself"):
        reading.find(key)


def test_the_secret_of_a_holding_that_was_read_is_withheld(ada):
    resource_id = make.resource(ada)
    row = Holding.of_row(_seen(ada, resource_id).holding)

    assert isinstance(row.secret_data, Withheld)
    assert secret_of(ada, resource_id) not in f"{row.secret_data!r}{row.secret_data}"


def test_a_holding_is_stored_again_with_its_secret(ada):
    resource_id = make.resource(ada)
    row = Holding.of_row(_seen(ada, resource_id).holding)

    assert row.row == _seen(ada, resource_id).holding


def _calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), [ast.unparse(each) for each in node.args]


@pytest.mark.parametrize("path", OUTSIDE, ids=[str(each.relative_to(ROOT)) for each in OUTSIDE])
def test_nobody_goes_around_it(path):
    for function, arguments in _calls(path):
        assert not function.endswith(("withheld", "Disclosed", "Logged", "copied"))
        assert not (function.startswith("reading.") and "Holding" in arguments)
        assert not (function.endswith("partial") and {"reading.query", "Holding"} <= {*arguments})
