"""The server's key is changed step by step, whoever dies, signs in or writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from chalicelib.crypto.private_keys import Held, Place, Secret
from chalicelib.crypto.server_keys import ServerKeys
from chalicelib.domain import deadline
from chalicelib.domain.errors import Conflict, Stale, Unavailable
from chalicelib.domain.operator.server_key_sets import Step
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.directory import directory_settings
from chalicelib.services.operator import (
    keys,
    mail_relay,
    passwords,
    server_key,
    server_key_rotation,
)
from chalicelib.services.operator.resealing import Found
from chalicelib.services.sign_in import authenticators
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.tables.items.metadata_private_keys import SERVER, MetadataPrivateKey
from chalicelib.tables.settings import DIRECTORY_SYNC, MAIL_RELAY, SERVER_KEY, Setting, value_of
from chalicelib.tables.users.users import User
from chalicelib.workers import founder
from tests.conftest import Time
from tests.support.faults.hooks import Killed, Recorder, kill_points
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.rights import rights_of_group
from tests.support.leaks import Secrets, watch
from tests.support.model.invariants import check_invariants
from tests.support.proving import fewer
from tests.support.races.at_once import most_orders
from tests.support.storage import Storage
from tests.support.wire.client import Client
from tests.support.world import make, people, second_factors
from tests.support.world.beginning import Beginning
from tests.support.world.items import metadata
from tests.support.world.keys import challenge, open_sealed
from tests.support.world.make import Somebody
from tests.support.world.operator.secret_names import refusing_a_second_value
from tests.support.world.operator.server_keys import (
    NEXT,
    REMOVE,
    RETIRE,
    STAGES,
    USE,
    Dying,
    Sealed,
    do,
    kept_after,
    mailed,
    open_to,
    own_place,
    pool,
    public_of,
    sealed_to,
    store_directory,
    store_relay,
    take,
)

NAME = "keyhaven/test/server"
SEALED_ROWS = 5
"""A second factor, two copies, a directory and a relay."""
Digest = Callable[[], str]
EVERYWHERE = pytest.mark.parametrize("place", ["folder", "secret"], indirect=True)
IN_A_SECRET = pytest.mark.parametrize("place", ["secret"], indirect=True)


@pytest.fixture
def place(request: pytest.FixtureRequest, store: Storage) -> Iterator[Place]:
    """Where the key lies: what is done to it ends with the test."""
    with kept_after() as own:
        if getattr(request, "param", "folder") == "secret":
            with mock_aws():
                client = boto3.client("secretsmanager", settings.region)
                client.create_secret(Name=NAME, SecretString=own.read().text)
                yield Secret(NAME)
                client.delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)
        else:
            yield own


@pytest.fixture
def first(place: Place) -> str:
    """The private key before any change."""
    return place.read().text


@pytest.fixture
def sealed(first: str, time: Time, beginning: Beginning) -> Sealed:
    """All that rests sealed, which is sealed once: the key is the same for each test."""

    def made() -> tuple[Sealed, datetime, Secrets]:
        ada, betty = beginning.joined_by("ada", admin=True), beginning.joined_by("betty")
        return sealed_to(first, ada, betty, time), time.now, watch.secrets()

    sealed, time.now, secrets = beginning.with_added("all that rests sealed", made)
    watch.keep_all(secrets)
    return sealed


def fingerprints(keys: ServerKeys) -> list[str]:
    return [key.fingerprint for key in keys.keys]


def published() -> dict[str, object]:
    return value_of(reading.read([Setting.named(SERVER_KEY)]).find(Setting, SERVER_KEY))


def require_sealed_to(keys: ServerKeys, store: Storage, sealed: Sealed) -> None:
    """All opens, and another program opens with the new key what it opened with the old one."""
    *earlier, new = keys.key_set.keys
    sealed.require_open()
    assert len(open_to(new, store)) == SEALED_ROWS + 1  # the directory has two passwords
    assert [open_to(each, store) for each in earlier] == [set() for _ in earlier]


# The way


def test_a_key_is_announced_a_day_before_it_is_used(
    place: Place, store: Storage, time: Time
) -> None:
    before, row = server_key.in_use().fingerprint, published()
    announced = take(NEXT, time)

    assert announced.in_use.fingerprint == before
    assert announced.coming is not None
    new = announced.coming.fingerprint
    assert mailed(store) == [("server-key-announced", new)]
    assert server_key_rotation.due(announced.key_set) == time.now + timedelta(hours=24)
    assert published()["fingerprint"] == row["fingerprint"] == before
    assert published()["fingerprints"] == [before, new]
    time.pass_by(days=30)
    assert server_key.in_use().fingerprint == before


def test_a_key_is_used_when_every_function_knows_of_it(
    place: Place, store: Storage, time: Time
) -> None:
    old = take(NEXT, time).in_use
    used = take(USE, time)

    begins = used.key_set.used_from
    assert begins == time.now + timedelta(minutes=16)
    new = used.keys[-1].fingerprint
    time.now = begins - timedelta(seconds=1)
    assert server_key.in_use().fingerprint == old.fingerprint
    time.now = begins
    assert server_key.in_use().fingerprint == new
    assert mailed(store) == [("server-key-announced", new), ("server-key-changed", new)]


def test_the_earlier_key_answers_for_a_week_and_is_kept_for_as_long_as_backups(
    place: Place, store: Storage, time: Time, sealed: Sealed
) -> None:
    used = do(time, NEXT, USE)
    old, new = used.keys
    begins = used.key_set.used_from
    assert begins is not None
    assert [key.fingerprint for key in used.answering] == [old.fingerprint, new.fingerprint]

    retired = take(RETIRE, time)
    assert time.now - begins == timedelta(days=7)
    assert [key.fingerprint for key in retired.answering] == [new.fingerprint]
    assert fingerprints(retired) == [old.fingerprint, new.fingerprint]
    require_sealed_to(retired, store, sealed)
    assert mailed(store)[-1] == ("server-key-retired", new.fingerprint)

    since = time.now
    removed = take(REMOVE, time)
    assert time.now - since == timedelta(days=36)
    assert fingerprints(removed) == [new.fingerprint]
    assert place.read().text == used.key_set.keys[-1]
    assert published() == {
        "fingerprint": new.fingerprint,
        "encryption_key_ids": sorted(new.encryption_key_ids),
    }
    sealed.require_open()
    assert len(mailed(store)) == 3


@EVERYWHERE
def test_a_key_is_changed_as_often_as_one_likes(place: Place, time: Time) -> None:
    seen = set(fingerprints(server_key_rotation.look(place)))
    for _ in range(2):
        seen |= set(fingerprints(do(time, *Step, place=place)))
        assert not place.read().text.startswith("{")
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("stage", "step", "refusal"),
    [
        ("at rest", USE, "First comes the step 'next', possible now."),
        ("announced", USE, "It is too early for 'use', possible from 2026-11-22T12:00:00"),
        ("announced", REMOVE, "First comes the step 'use', possible from 2026-11-22T12:00:00"),
        ("in use", RETIRE, "It is too early for 'retire', possible from 2026-11-29T12:16:00"),
        ("in use", NEXT, "First comes the step 'retire'"),
        ("retired", REMOVE, "It is too early for 'remove', possible from 2027-01-04T12:16:00"),
        ("retired", USE, "First comes the step 'remove'"),
    ],
)
def test_a_step_out_of_turn_or_time_changes_nothing(
    place: Place, time: Time, digest: Digest, stage: str, step: Step, refusal: str
) -> None:
    do(time, *STAGES[stage])
    before = digest(), place.read().text

    with pytest.raises(Conflict, match=refusal):
        server_key_rotation.take(step, place, pool)

    assert (digest(), place.read().text) == before


@pytest.mark.parametrize("stage", [name for name in STAGES if name != "at rest"])
def test_a_step_that_was_taken_is_not_taken_twice(
    place: Place, time: Time, digest: Digest, stage: str
) -> None:
    keys = do(time, *STAGES[stage])
    server_key.publish_stored()
    before = digest(), place.read().text
    time.pass_by(days=60)

    assert server_key_rotation.take(STAGES[stage][-1], place, pool).key_set == keys.key_set

    assert (digest(), place.read().text) == before


def test_no_key_is_retired_that_something_is_sealed_to(
    place: Place, time: Time, sealed: Sealed, digest: Digest
) -> None:
    do(time, NEXT, USE)
    time.pass_by(days=8)
    before = digest(), place.read().text

    with pytest.raises(Conflict, match="Something is sealed to the earlier key"):
        server_key_rotation.take(RETIRE, place, pool)

    assert (digest(), place.read().text) == before


# What rests sealed


def test_everything_sealed_is_sealed_anew(
    place: Place, store: Storage, time: Time, sealed: Sealed, first: str
) -> None:
    texts = open_to(first, store)
    assert len(texts) == SEALED_ROWS + 1
    used = do(time, NEXT, USE)
    new = used.key_set.keys[-1]
    copies = {row["id"]["S"]: row for row in MetadataPrivateKey.held_by(None)}

    assert server_key_rotation.reseal(place) == Found(SEALED_ROWS, 0, is_all=True)

    assert open_to(new, store) == texts
    assert open_to(first, store) == set()
    sealed.require_open()
    for row in MetadataPrivateKey.held_by(None):
        before = copies[row["id"]["S"]]
        assert {**row, "data": None} == {**before, "data": None}
        is_ours = "modified_by" not in row
        signer = public_of(new) if is_ours else sealed.admin.key.public
        assert open_sealed(row["data"]["S"], new, signer) in texts
    user = User.get(sealed.who.id)
    assert open_sealed(user.totp, new, public_of(new)) in texts
    assert server_key_rotation.reseal(place) == Found(0, 0, is_all=True)


def test_what_is_sealed_anew_was_changed_by_nobody(
    place: Place, time: Time, sealed: Sealed
) -> None:
    """Who changed it last, and when, stays; no session ends and no second factor is asked again."""
    before = User.get(sealed.who.id)
    rows = [Setting.get(name) for name in (MAIL_RELAY, DIRECTORY_SYNC)]
    do(time, NEXT, USE)

    server_key_rotation.reseal(place)

    after = User.get(sealed.who.id)
    changed = {
        name for name in before.attribute_values if getattr(before, name) != getattr(after, name)
    }
    assert changed == {"totp"}
    for row in rows:
        again = Setting.get(row.name)
        assert (again.modified, again.modified_by) == (row.modified, row.modified_by)
        assert again.value.keys() == row.value.keys()


@pytest.mark.parametrize("stage", ["at rest", "announced"])
def test_before_a_key_is_used_nothing_is_sealed_to_it(
    place: Place, time: Time, sealed: Sealed, digest: Digest, stage: str
) -> None:
    do(time, *STAGES[stage])
    before = digest()
    assert server_key_rotation.reseal(place) == Found(0, 0, is_all=True)
    assert digest() == before


def test_what_does_not_open_stays_and_is_in_nobodys_way(
    place: Place, store: Storage, time: Time, sealed: Sealed
) -> None:
    """Somebody has signed it who is not the server, so it opens for nobody."""
    used = do(time, NEXT, USE)
    forged = challenge("text", sealed.admin.key.private, public_of(used.key_set.keys[0]))
    people.change(sealed.who.id, totp=forged)

    assert server_key_rotation.reseal(place) == Found(SEALED_ROWS - 1, 1, is_all=True)
    assert User.get(sealed.who.id).totp == forged
    time.pass_by(days=8)
    assert server_key_rotation.take(RETIRE, place, pool).key_set.step is REMOVE
    assert len(open_to(used.key_set.keys[0], store)) == 1


def test_who_has_no_time_leaves_the_rest_to_the_next(
    place: Place, store: Storage, time: Time, sealed: Sealed
) -> None:
    keys = do(time, NEXT, USE)
    ticks = iter(range(100_000))
    previous = deadline.set_source(lambda: next(ticks) / 2)
    found = []
    while not found or not found[-1].is_all:
        with deadline.within(11):
            found.append(server_key_rotation.reseal(place))
    deadline.set_source(previous)

    assert len(found) > 1
    assert sum(each.resealed for each in found) == SEALED_ROWS
    require_sealed_to(keys, store, sealed)


def test_what_a_restore_brings_back_is_kept_openable_for_as_long_again(
    place: Place, store: Storage, time: Time, sealed: Sealed
) -> None:
    do(time, NEXT, USE)
    earlier = store.contents()
    do(time, RETIRE)
    row = Setting.get(SERVER_KEY)
    time.pass_by(days=20)
    store.put_back(earlier)
    row.save()  # as `restore` keeps it
    sealed.require_open()
    time.pass_by(days=16)

    with pytest.raises(Conflict, match="Something is sealed to the earlier key"):
        server_key_rotation.take(REMOVE, place, pool)
    told = mailed(store)
    assert server_key_rotation.reseal(place).resealed == SEALED_ROWS

    assert mailed(store) == told
    with pytest.raises(Conflict, match="It is too early for 'remove', possible from"):
        server_key_rotation.take(REMOVE, place, pool)
    removed = take(REMOVE, time)
    require_sealed_to(removed, store, sealed)


# Whoever dies


@dataclass(frozen=True)
class Change:
    before: tuple[Step, ...]
    make: Callable[[Place], object]


def _taken(step: Step) -> Callable[[Place], object]:
    def make(place: Place) -> object:
        if step in (RETIRE, REMOVE):
            server_key_rotation.reseal(place)
        return server_key_rotation.take(step, place, pool)

    return make


def _replaced(place: Place) -> object:
    server_key_rotation.replace_at_once(place, pool)
    return server_key_rotation.reseal(place)


CHANGES = {
    **{str(step): Change(tuple(Step)[:n], _taken(step)) for n, step in enumerate(Step)},
    "replace": Change((), _replaced),
    "replace while announced": Change((NEXT,), _replaced),
    "replace while in use": Change((NEXT, USE), _replaced),
    "replace while retired": Change((NEXT, USE, RETIRE), _replaced),
}


class Stage:
    """All as it was before a change, to be had again and again."""

    def __init__(self, place: Place, store: Storage, time: Time, change: Change) -> None:
        do(time, *change.before)
        time.now = server_key_rotation.due(server_key_rotation.look(place).key_set) or time.now
        self._store, self._place, self._time = store, place, time
        self._kept = store.contents(), place.read().text, pool.made, time.now

    def again(self) -> None:
        rows, text, pool.made, self._time.now = self._kept
        self._store.put_back(rows)
        self._place.follow(self._place.read(), text)
        server_key.forget()


def require_sound(place: Place, sealed: Sealed) -> None:
    """All that rests sealed opens, and what clients are shown is a key that the secret holds."""
    server_key.forget()
    sealed.require_open()
    keys = server_key_rotation.look(place)
    assert server_key.in_use().fingerprint == keys.in_use.fingerprint
    assert published()["fingerprint"] in fingerprints(keys)


@pytest.mark.parametrize("name", [*map(str, Step), "replace"])
def test_a_process_may_die_at_any_moment(
    place: Place, store: Storage, time: Time, sealed: Sealed, name: str
) -> None:
    """Nothing is lost by it, and who gives the step again comes to the same end."""
    change = CHANGES[name]
    stage = Stage(place, store, time, change)
    with Recorder() as seen:
        change.make(place)
    undisturbed, told = server_key_rotation.look(place).key_set.step, mailed(store)
    for killing in kill_points(len(seen.calls)):
        stage.again()
        with killing, pytest.raises(Killed):
            change.make(place)
        require_sound(place, sealed)
        change.make(place)
        keys = server_key_rotation.look(place)
        assert keys.key_set.step is undisturbed
        _require_ended(name, keys, store, sealed, told)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_a_process_may_die_while_it_stores_a_key(
    place: Place, store: Storage, time: Time, sealed: Sealed, name: str, *, after: bool
) -> None:
    change = CHANGES[name]
    stage = Stage(place, store, time, change)
    change.make(place)
    undisturbed, told = server_key_rotation.look(place).key_set.step, mailed(store)
    stage.again()

    with pytest.raises(Killed):
        change.make(Dying(place, Killed, after))

    require_sound(place, sealed)
    change.make(place)
    keys = server_key_rotation.look(place)
    assert keys.key_set.step is undisturbed
    _require_ended(name, keys, store, sealed, told)


def _require_ended(
    name: str, keys: ServerKeys, store: Storage, sealed: Sealed, told: list[tuple[str, str]]
) -> None:
    if name not in (NEXT, USE):  # which seal nothing anew
        require_sealed_to(keys, store, sealed)
    if "replace" not in name:  # which makes another key each time, and tells of it
        assert [template for template, _ in mailed(store)] == [template for template, _ in told]
    newest = keys.keys[-1].fingerprint
    assert newest in {fingerprint for _, fingerprint in mailed(store)}


def test_a_place_that_cannot_be_written_changes_nothing(
    place: Place, digest: Digest, time: Time
) -> None:
    before = digest(), place.read().text
    with pytest.raises(Unavailable):
        server_key_rotation.take(NEXT, Dying(place, Unavailable, after=False), pool)
    assert (digest(), place.read().text) == before


# Who comes between


@IN_A_SECRET
@pytest.mark.parametrize("theirs", ["next", "replace"])
@pytest.mark.parametrize("ours", ["next", "replace"])
def test_of_two_who_change_the_key_at_once_one_is_refused(
    place: Place, store: Storage, time: Time, ours: str, theirs: str
) -> None:
    with refusing_a_second_value(boto3.client("secretsmanager", settings.region), NAME):
        between = Between(place, lambda: CHANGES[theirs].make(place))
        with pytest.raises(Conflict, match="Somebody else is changing the server's keys"):
            CHANGES[ours].make(between)

    keys = server_key_rotation.look(place)
    assert len(keys.keys) == 2
    assert published()["fingerprints"] == fingerprints(keys)
    assert len(mailed(store)) == 1


@EVERYWHERE
@pytest.mark.parametrize("theirs", ["use", "replace"])
def test_who_is_late_publishes_no_earlier_keys(
    place: Place, store: Storage, time: Time, theirs: str
) -> None:
    """Between the secret and the row, somebody else reads ours and goes on from there."""

    def meanwhile() -> None:
        time.pass_by(days=1)
        CHANGES[theirs].make(place)

    with pytest.raises(Stale):
        server_key_rotation.take(NEXT, Between(place, meanwhile, after=True), pool)

    keys = server_key_rotation.look(place)
    assert published()["fingerprints"] == fingerprints(keys)
    assert published()["step"] == keys.key_set.step != USE
    told = {"use": "server-key-changed", "replace": "server-key-retired"}
    assert mailed(store) == [(told[theirs], keys.keys[-1].fingerprint)]


@dataclass
class Between:
    """A place of which we write only after somebody else has done something, or before."""

    place: Place
    meanwhile: Callable[[], object]
    after: bool = False

    def read(self) -> Held:
        return self.place.read()

    def create(self, make: Callable[[], str]) -> None:
        self.place.create(make)

    def follow(self, held: Held, text: str) -> None:
        if not self.after:
            self.meanwhile()
        self.place.follow(held, text)
        if self.after:
            self.meanwhile()


def _anew(who: Somebody) -> Client:
    """Signed in again: the session of before ended long ago."""
    return Client(make.access_token(User.get(who.id)))


def _sets_up_anew(sealed: Sealed) -> Callable[[], object]:
    def change() -> object:
        removed = _anew(sealed.admin).delete(f"/mfa/setup/{sealed.who.id}.json")
        return removed.status, second_factors.set_up(_anew(sealed.who))

    return change


def _gives_a_code(sealed: Sealed) -> Callable[[], object]:
    return lambda: second_factors.given(_anew(sealed.who), sealed.app.code()).status


def _deletes_a_metadata_key(sealed: Sealed) -> Callable[[], object]:
    def change() -> object:
        admin = _anew(sealed.admin)
        admin.put(sealed.shared[0].path, metadata.expiry(sealed.shared[0]))
        return admin.delete(sealed.shared[0].path).status

    return change


def _wants_zero_knowledge(sealed: Sealed) -> Callable[[], object]:
    body = metadata.PERSONAL | {"zero_knowledge_key_share": True}
    return lambda: _anew(sealed.admin).post(metadata.KEYS_SETTINGS, body).status


def _deletes_the_relay(sealed: Sealed) -> Callable[[], object]:
    return lambda: _anew(sealed.admin).delete("/smtp/settings.json").status


def _saves_another_relay(sealed: Sealed) -> Callable[[], object]:
    """As the function of its settings does, which asks the server before."""
    return lambda: store_relay(server_key_rotation.look(own_place()).key_set.keys[-1], "new")


def _saves_another_directory(sealed: Sealed) -> Callable[[], object]:
    newest = server_key_rotation.look(own_place()).key_set.keys[-1]
    return lambda: store_directory(newest, {"domain": "new"})


def _is_deleted(sealed: Sealed) -> Callable[[], object]:
    return lambda: _anew(sealed.admin).delete(f"/users/{sealed.who.id}.json").status


MEANWHILE = {
    each.__name__.removeprefix("_"): each
    for each in (
        *(_sets_up_anew, _gives_a_code, _deletes_a_metadata_key, _wants_zero_knowledge),
        *(_deletes_the_relay, _is_deleted, _saves_another_relay, _saves_another_directory),
    )
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_who_changes_a_row_meanwhile_loses_nothing(
    place: Place, store: Storage, time: Time, sealed: Sealed, what: str
) -> None:
    """What they did stands, and all opens with the new key alone."""
    keys = do(time, NEXT, USE)
    _anew(sealed.admin).get("/account/settings.json")
    theirs, start = MEANWHILE[what](sealed), store.contents()
    for race in most_orders():
        store.put_back(start)
        ours, other = race.run(lambda: server_key_rotation.reseal(place), theirs)

        assert ours.get().is_all
        done = other.get()
        assert server_key_rotation.reseal(place).unopened == 0
        assert open_to(keys.key_set.keys[0], store) == set()
        _require_done(what, done, sealed)
        check_invariants(store)


@pytest.mark.parametrize("nth", range(1, SEALED_ROWS + 1, fewer(3, 1)))
@pytest.mark.parametrize("what", MEANWHILE)
def test_who_changes_a_row_between_its_reading_and_its_writing_loses_nothing(
    place: Place, store: Storage, time: Time, sealed: Sealed, what: str, nth: int
) -> None:
    keys = do(time, NEXT, USE)
    done: list[object] = []

    with Meanwhile(lambda: done.append(MEANWHILE[what](sealed)()), nth=nth):
        server_key_rotation.reseal(place)

    assert open_to(keys.key_set.keys[0], store) == set()
    _require_done(what, done[0], sealed)


def _require_done(what: str, done: object, sealed: Sealed) -> None:
    user = User.get(sealed.who.id)
    if what == "sets_up_anew":
        status, app = done
        assert status == 200
        uri = authenticators.opened(user).uri("keyhaven.test", sealed.who.user.username)
        assert uri == app.uri
        return
    if what == "saves_another_relay":
        relay = mail_relay.view()
        assert relay is not None
        assert mail_relay.named_by(relay).password == "new"
        return
    if what == "saves_another_directory":
        [stored] = directory_settings.view().sealed.values()
        assert passwords.opened(passwords.DIRECTORY, "domain", stored) == "new"
        return
    assert done == 200
    if what == "gives_a_code":
        sealed.require_open()
        assert user.totp_step > 0
    elif what == "is_deleted":
        assert (user.deleted, user.totp) == (True, None)
    elif what == "deletes_the_relay":
        assert mail_relay.view() is None
    else:
        held = {row["metadata_key_id"]["S"] for row in MetadataPrivateKey.held_by(None)}
        assert sealed.shared[0].id not in held
        assert (held == set()) == (what == "wants_zero_knowledge")


@pytest.mark.parametrize("nth", range(1, 6))
def test_what_is_sealed_to_the_earlier_key_while_it_is_sealed_anew_is_found(
    place: Place, store: Storage, time: Time, sealed: Sealed, nth: int
) -> None:
    """By a client that knows no other key, or a process that has not noticed."""
    keys = do(time, NEXT, USE)
    old = public_of(keys.key_set.keys[0])

    def late() -> None:
        text = metadata.content(sealed.shared[0]) + " later"
        copy = MetadataPrivateKey.get(SERVER, sealed.shared[0].id)
        copy.data = challenge(text, sealed.admin.key.private, old)
        copy.save()

    with Meanwhile(late, nth=nth):
        server_key_rotation.reseal(place)

    require_sealed_to(keys, store, sealed)
    late_ones = [text for text in open_to(keys.key_set.keys[-1], store) if text.endswith(" later")]
    assert len(late_ones) == 1


# When somebody may know it


@pytest.mark.parametrize("stage", STAGES)
def test_a_key_somebody_knows_is_replaced_at_once(
    place: Place, store: Storage, time: Time, sealed: Sealed, stage: str
) -> None:
    before = do(time, *STAGES[stage])
    known = set(fingerprints(before))

    replaced = server_key_rotation.replace_at_once(place, pool)
    server_key_rotation.reseal(place)

    assert server_key.in_use().fingerprint not in known
    assert [key.fingerprint for key in replaced.answering] == [replaced.in_use.fingerprint]
    assert mailed(store)[-1][0] == "server-key-retired"
    assert ("server-key-retired", replaced.in_use.fingerprint) in mailed(store)
    require_sealed_to(replaced, store, sealed)
    kept = {key.fingerprint for key in replaced.earlier}
    unused = set() if before.coming is None else {before.coming.fingerprint}
    assert kept == known - unused
    require_sealed_to(do(time, REMOVE), store, sealed)


def test_a_key_may_be_replaced_twice_in_a_row(
    place: Place, store: Storage, time: Time, sealed: Sealed
) -> None:
    for _ in range(2):
        keys = server_key_rotation.replace_at_once(place, pool)
    server_key_rotation.reseal(place)

    require_sealed_to(keys, store, sealed)
    assert len({fingerprint for _, fingerprint in mailed(store)}) == 2


def test_of_a_secret_that_was_overwritten_nothing_is_kept(
    place: Place, store: Storage, time: Time
) -> None:
    place.follow(place.read(), "no key")
    with pytest.raises(ValueError, match="not one"):
        server_key_rotation.look(place)

    replaced = server_key_rotation.replace_at_once(place, pool)

    assert len(replaced.keys) == 1
    assert server_key.in_use().fingerprint == replaced.in_use.fingerprint
    assert mailed(store) == [("server-key-retired", replaced.in_use.fingerprint)]


def test_a_process_that_has_not_noticed_opens_what_is_sealed_to_the_new_key(
    place: Place, time: Time, sealed: Sealed
) -> None:
    """It reads the keys again, once a minute at most, whoever sends it what."""
    stale = server_key.server_keys.get()
    server_key_rotation.replace_at_once(place, pool)
    server_key_rotation.reseal(place)
    server_key.server_keys._value = stale
    time.pass_by(minutes=2)

    sealed.require_open()


# The row


def test_a_tenant_of_before_keys_changed_publishes_what_it_did(place: Place, first: str) -> None:
    key = ServerKeys.load(first).in_use
    assert published() == {
        "fingerprint": key.fingerprint,
        "encryption_key_ids": sorted(key.encryption_key_ids),
    }


def test_a_row_that_was_lost_is_published_again_with_whom_to_tell(
    place: Place, store: Storage, time: Time
) -> None:
    do(time, NEXT)
    row = published()
    Setting(SERVER_KEY).delete()

    keys.create("keyhaven.test")

    assert published() == row


def test_administrators_hear_of_a_key_that_was_exchanged_by_hand(
    place: Place, store: Storage
) -> None:
    kept = server_key.in_use().fingerprint
    place.follow(place.read(), pool())

    told = {keys.create("keyhaven.test") for _ in range(2)}

    assert told == {server_key.in_use().fingerprint} != {kept}
    assert mailed(store) == [("server-key-retired", *told)]


def test_a_founder_that_knows_an_earlier_key_tells_the_one_in_use(place: Place) -> None:
    """What is published it may have been told by another one, and so has nothing to write."""
    stale = server_key.server_keys.get()
    replaced = server_key_rotation.replace_at_once(place, pool)
    server_key.server_keys._value = stale
    assert keys.create("keyhaven.test") == replaced.in_use.fingerprint


# The founder


@pytest.fixture
def asked(place: Place) -> Callable[[str], dict[str, object]]:
    """Asks the founder, who has the rights it has in the cloud and no others."""
    [group] = (group for group in WORKERS if group.name == "founder")

    def ask(what: str) -> dict[str, object]:
        with rights_of_group(group):
            return founder.handler({"server_key": what}, None)

    return ask


def test_the_founder_tells_how_the_keys_stand_and_what_comes_next(
    asked: Callable[[str], dict[str, object]], time: Time, sealed: Sealed
) -> None:
    rest = asked("look")
    old = rest["in_use"]
    assert rest == {
        "in_use": old,
        "coming": None,
        "used_from": None,
        "earlier": [],
        "answers": True,
        "step": "next",
        "from": None,
    }

    announced = asked("next")
    new = announced["coming"]
    assert announced == {**rest, "coming": new, "step": "use", "from": "2026-11-22T12:02:00+00:00"}

    time.pass_by(hours=24)
    changing = asked("use")
    assert (changing["in_use"], changing["used_from"]) == (old, "2026-11-22T12:18:00+00:00")

    time.pass_by(days=8)
    assert asked("look") == {
        **rest,
        "in_use": new,
        "earlier": [old],
        "step": "retire",
        "from": "2026-11-29T12:18:00+00:00",
    }
    assert asked("retire") == {
        "refused": "Something is sealed to the earlier key; have it sealed anew first."
    }
    assert asked("reseal") == {"resealed": SEALED_ROWS, "unopened": 0, "is_all": True}
    assert asked("retire")["answers"] is False
    assert asked("remove")["refused"].startswith("It is too early for 'remove', possible from 2027")

    time.pass_by(days=36)
    assert asked("reseal") == {"resealed": 0, "unopened": 0, "is_all": True}
    assert asked("remove") == {**rest, "in_use": new}
    sealed.require_open()


def test_the_founder_replaces_at_once(
    asked: Callable[[str], dict[str, object]], sealed: Sealed
) -> None:
    old = asked("look")["in_use"]
    replaced = asked("replace")
    assert (replaced["earlier"], replaced["answers"], replaced["step"]) == ([old], False, "remove")
    assert asked("reseal")["resealed"] == SEALED_ROWS
    sealed.require_open()


def test_what_the_founder_refuses_is_an_answer(
    asked: Callable[[str], dict[str, object]], digest: Digest
) -> None:
    before = digest()
    known = "next, use, retire, remove, replace, reseal, look"
    assert asked("turn") == {"refused": f"There is no step 'turn'; there are {known}."}
    assert asked("use") == {"refused": "First comes the step 'next', possible now."}
    assert digest() == before


def test_nothing_private_is_told_or_logged(
    asked: Callable[[str], dict[str, object]], sealed: Sealed, caplog: pytest.LogCaptureFixture
) -> None:
    told = [asked(step) for step in ("next", "look", "replace", "reseal")]
    assert "BEGIN" not in str(told) + caplog.text
    assert "server-key" in caplog.text
