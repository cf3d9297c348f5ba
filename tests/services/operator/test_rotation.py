"""The keys of access tokens are changed step by step, whoever dies or comes between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

import boto3
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from moto import mock_aws

from chalicelib.crypto import private_keys, tokens
from chalicelib.crypto.private_keys import Held, Place, Secret
from chalicelib.domain import clock, warm
from chalicelib.domain.errors import Conflict, Refusal, Stale, Unavailable
from chalicelib.domain.operator.key_sets import KeySet, Step
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.operator import keys, rotation, signing_keys
from chalicelib.settings import settings
from chalicelib.tables.settings import SIGNING_KEYS, Setting
from chalicelib.workers import founder
from tests.conftest import Time
from tests.support.faults.hooks import Killed, Killing, Recorder, kill_points
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.rights import rights_of_group
from tests.support.storage import Storage
from tests.support.world.operator.rotation import (
    NEXT,
    RETIRE,
    SIGN,
    STAGES,
    held,
    named,
    own_place,
    pool,
    require_clean,
    require_sound,
    take,
    without_names,
)
from tests.support.world.operator.secret_names import refusing_a_second_value

NAME = "keyhaven/test/signing"
Digest = Callable[[], str]


EVERYWHERE = pytest.mark.parametrize("place", ["folder", "secret"], indirect=True)
"""A secret is slow to try, so what does not touch it much is tried in a folder alone."""
IN_A_SECRET = pytest.mark.parametrize("place", ["secret"], indirect=True)


@pytest.fixture
def place(request: pytest.FixtureRequest, store: Storage) -> Iterator[Place]:
    """Where private keys lie: what is done to them ends with the test."""
    own = own_place()
    before, pool.made = own.read(), 0
    if getattr(request, "param", "folder") == "secret":
        yield from _secret_with(before)
    else:
        yield own
    own.follow(own.read(), before.text)
    signing_keys.forget()


def _secret_with(value: Held) -> Iterator[Place]:
    with mock_aws():
        client = boto3.client("secretsmanager", settings.region)
        client.create_secret(Name=NAME, SecretString=value.text)
        with refusing_a_second_value(client, NAME):
            yield Secret(NAME)
        client.delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)


def do(time: Time, place: Place, *steps: Step) -> KeySet:
    for step in steps:
        take(step, time, place)
    return signing_keys.stored()


# The way


def test_a_key_is_published_a_day_before_it_signs(place: Place, time: Time) -> None:
    [old] = signing_keys.stored().keys
    published = rotation.take(NEXT, place, pool)

    assert published.keys[0] == old
    assert len(published.keys) == 2
    assert published == signing_keys.stored()
    assert published.signing(clock.now() + timedelta(days=30)) == old
    assert rotation.due(published) == time.now + timedelta(hours=24)
    require_clean(place)


def test_a_key_signs_when_every_function_knows_of_it(place: Place, time: Time) -> None:
    old, new = do(time, place, NEXT).keys
    signing = do(time, place, SIGN)

    begins = signing.signs_from
    assert begins is not None
    assert begins - time.now >= timedelta(seconds=warm.SECONDS)
    assert signing.signing(begins - timedelta(seconds=1)) == old
    assert signing.signing(begins) == new
    require_clean(place)


def test_the_old_key_goes_when_its_last_token_has_ended(place: Place, time: Time) -> None:
    changing = do(time, place, NEXT, SIGN)
    assert changing.signs_from is not None
    retired = do(time, place, RETIRE)

    assert retired.keys == (changing.newer,)
    assert time.now - changing.signs_from >= timedelta(seconds=tokens.LIFETIME + tokens.LEEWAY)
    require_clean(place)


@EVERYWHERE
def test_keys_are_changed_as_often_as_one_likes(place: Place, time: Time) -> None:
    seen = set(named(signing_keys.stored()))
    for _ in range(2):
        seen |= named(do(time, place, NEXT, SIGN, RETIRE))
        require_clean(place)
    assert len(seen) == 3


@pytest.mark.parametrize("step", [SIGN, RETIRE])
def test_a_step_that_comes_too_early_changes_nothing(
    place: Place, time: Time, digest: Digest, step: Step
) -> None:
    key_set = do(time, place, *(NEXT, SIGN)[: [SIGN, RETIRE].index(step) + 1])
    due = rotation.due(key_set)
    assert due is not None
    time.now = due - timedelta(seconds=1)
    before = digest(), held(place)

    with pytest.raises(Conflict, match=f"too early for '{step}', possible from"):
        rotation.take(step, place)

    assert (digest(), held(place)) == before
    time.pass_by(seconds=1)
    assert rotation.take(step, place) != key_set


@pytest.mark.parametrize(
    ("stage", "step", "first"),
    [
        ("at rest", SIGN, "'next', possible now"),
        ("published", RETIRE, "'sign', possible from 2026-11-22T12:00:00"),
        ("changing", NEXT, "'retire', possible from 2026-11-22T12:21:05"),
    ],
)
def test_a_step_out_of_turn_changes_nothing(
    place: Place, time: Time, digest: Digest, stage: str, step: Step, first: str
) -> None:
    do(time, place, *STAGES[stage])
    before = digest(), held(place)

    with pytest.raises(Conflict, match=f"First comes the step {first}"):
        rotation.take(step, place)

    assert (digest(), held(place)) == before


@pytest.mark.parametrize("steps", [(NEXT,), (NEXT, SIGN), (NEXT, SIGN, RETIRE)])
def test_a_step_that_was_taken_is_not_taken_twice(
    place: Place, time: Time, digest: Digest, steps: tuple[Step, ...]
) -> None:
    key_set = do(time, place, *steps)
    before = digest(), place.read().version
    time.pass_by(days=30)

    assert rotation.take(steps[-1], place) == key_set

    assert (digest(), place.read().version) == before


def test_nothing_is_to_be_retired_of_a_new_tenant(place: Place, digest: Digest) -> None:
    before = digest(), place.read().version
    rotation.take(RETIRE, place)
    assert (digest(), place.read().version) == before


# At once


@EVERYWHERE
@pytest.mark.parametrize("stage", STAGES)
def test_a_key_somebody_knows_is_replaced_at_once(place: Place, time: Time, stage: str) -> None:
    before = named(do(time, place, *STAGES[stage]))

    replaced = rotation.replace_at_once(place, pool)

    assert len(replaced.keys) == 1
    assert not named(replaced) & before
    assert replaced == signing_keys.stored()
    assert replaced.step is NEXT
    require_clean(place)


def test_a_key_that_was_stored_and_not_published_is_not_trusted_either(
    place: Place, store: Storage
) -> None:
    """Whoever has read the store knows it as well."""
    with Killing(at=2), pytest.raises(Killed):
        rotation.take(NEXT, place, pool)
    [stray] = held(place) - named(signing_keys.stored())

    replaced = rotation.replace_at_once(place, pool)

    assert stray not in named(replaced)
    require_clean(place)


# Whoever dies


@dataclass(frozen=True)
class Change:
    before: tuple[Step, ...]
    make: Callable[[Place], KeySet]


def _replace(place: Place) -> KeySet:
    return rotation.replace_at_once(place, pool)


CHANGES = {
    "next": Change((), lambda place: rotation.take(NEXT, place, pool)),
    "sign": Change((NEXT,), lambda place: rotation.take(SIGN, place)),
    "retire": Change((NEXT, SIGN), lambda place: rotation.take(RETIRE, place)),
    "replace": Change((), _replace),
    "replace while published": Change((NEXT,), _replace),
    "replace while changing": Change((NEXT, SIGN), _replace),
}


ANYWHERE = [("folder", name) for name in CHANGES] + [("secret", "next")]


@pytest.mark.parametrize(("place", "name"), ANYWHERE, indirect=["place"])
def test_a_process_may_die_at_any_moment(
    place: Place, store: Storage, time: Time, name: str
) -> None:
    """Who comes next finds keys that sign, and comes to the end by giving the step again."""
    change = CHANGES[name]
    before = do(time, place, *change.before)
    due = rotation.due(before)
    time.now = due or time.now
    rows, text, made = store.contents(), place.read().text, pool.made
    with Recorder() as seen:
        undisturbed = change.make(place)
    for killing in kill_points(len(seen.calls)):
        store.put_back(rows)
        place.follow(place.read(), text)
        pool.made = made
        with killing, pytest.raises(Killed):
            change.make(place)
        require_sound(place)
        repeated = change.make(place)
        assert len(repeated.keys) == len(undisturbed.keys)
        assert (repeated.step, repeated.signs_from) == (undisturbed.step, undisturbed.signs_from)
        assert repeated == signing_keys.stored()
        require_clean(place)


@pytest.mark.parametrize("name", CHANGES)
def test_what_left_the_set_never_comes_back(
    place: Place, store: Storage, time: Time, name: str
) -> None:
    """Wherever a change was cut short, later ones publish no key that was taken out."""
    change = CHANGES[name]
    ours = named(do(time, place, *change.before))
    time.now = rotation.due(signing_keys.stored()) or time.now
    rows, text, made, now = store.contents(), place.read().text, pool.made, time.now
    with Recorder() as seen:
        change.make(place)
    for killing in kill_points(len(seen.calls)):
        store.put_back(rows)
        place.follow(place.read(), text)
        pool.made = made
        time.now = now
        with killing, pytest.raises(Killed):
            change.make(place)
        gone = ours - named(signing_keys.stored())
        for _ in range(4):
            assert not gone & named(take(signing_keys.stored().step, time, place))
            require_sound(place)
        assert not gone & held(place)


# Who comes between


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("theirs", ["next", "replace"])
@pytest.mark.parametrize("ours", ["next", "replace"])
def test_of_two_at_once_one_is_refused(place: Place, ours: str, theirs: str, nth: int) -> None:
    """What they wrote stands: before we announce a key, and before we publish it."""
    made: list[KeySet] = []

    def meanwhile() -> None:
        made.append(CHANGES[theirs].make(place))

    with Meanwhile(meanwhile, nth=nth), pytest.raises(Stale):
        CHANGES[ours].make(place)

    assert made == [signing_keys.stored()]
    require_sound(place)


@dataclass
class Interrupted:
    """A place of which we write only after somebody else has done something."""

    place: Place
    meanwhile: Callable[[], object]

    def read(self) -> Held:
        return self.place.read()

    def create(self, make: Callable[[], str]) -> None:
        self.place.create(make)

    def follow(self, held: Held, text: str) -> None:
        self.meanwhile()
        self.place.follow(held, text)


@IN_A_SECRET
@pytest.mark.parametrize("theirs", ["next", "replace"])
@pytest.mark.parametrize("ours", ["next", "replace", "retire"])
def test_who_read_the_store_before_another_wrote_it_does_not_write_it(
    place: Place, time: Time, ours: str, theirs: str
) -> None:
    do(time, place, *CHANGES[ours].before)
    time.now = rotation.due(signing_keys.stored()) or time.now
    made: list[KeySet] = []

    def meanwhile() -> None:
        made.append(CHANGES[theirs].make(place))

    refusal = "Somebody else is changing the server's keys"
    with pytest.raises((Conflict, rotation.CutShort), match=refusal):
        CHANGES[ours].make(Interrupted(place, meanwhile))

    assert made == [signing_keys.stored()]
    require_clean(place)


@IN_A_SECRET
def test_who_removes_keys_leaves_one_that_was_announced(place: Place, time: Time) -> None:
    """It is stored, and going to be published."""
    do(time, place, NEXT, SIGN, RETIRE)
    with Killing(at=2), pytest.raises(Killed):
        rotation.take(NEXT, place, pool)
    coming = signing_keys.stored().coming

    rotation.take(RETIRE, place)

    assert coming in held(place)
    assert coming in named(rotation.take(NEXT, place, pool))


def test_a_place_that_cannot_be_written_is_no_key_that_is_published(
    place: Place, digest: Digest
) -> None:
    def fail() -> None:
        raise Unavailable

    with pytest.raises(Unavailable):
        rotation.take(NEXT, Interrupted(place, fail))

    assert len(signing_keys.stored().keys) == 1
    require_clean(place)


# What is there already


def test_a_key_without_a_private_half_never_signs(place: Place, time: Time) -> None:
    do(time, place, NEXT)
    first = next(iter(tokens.by_name(place.read().text).values()))
    place.follow(place.read(), first)
    time.pass_by(days=1)

    with pytest.raises(Conflict, match="The private half of the next key is not there"):
        rotation.take(SIGN, place)

    assert signing_keys.stored().signs_from is None
    rotation.replace_at_once(place, pool)
    require_clean(place)


def test_a_tenant_of_before_keys_had_names_changes_its_key_as_others_do(
    place: Place, time: Time
) -> None:
    """Its secret holds one PEM, its row a key without a name; nobody does anything by hand."""
    unnamed = without_names()
    keys.create("keyhaven.local")
    assert signing_keys.stored() == KeySet((unnamed,))

    both = do(time, place, NEXT)
    assert both.keys[0] == unnamed
    assert both.newer["kid"] == tokens.thumbprint(both.newer)
    assert do(time, place, SIGN).signing(time.now) == unnamed
    assert do(time, place, RETIRE).keys == (both.newer,)
    require_clean(place)


def test_a_tenant_of_before_keys_had_names_replaces_its_key(place: Place) -> None:
    unnamed = without_names()

    [jwk] = rotation.replace_at_once(place, pool).keys

    assert jwk["n"] != unnamed["n"]
    assert jwk["kid"] == tokens.thumbprint(jwk)
    require_clean(place)


@pytest.fixture
def folder(store: Storage) -> Iterator[Place]:
    """The place the service itself uses."""
    own = own_place()
    before, pool.made = own.read(), 0
    yield own
    own.follow(own.read(), before.text)
    signing_keys.forget()


@pytest.mark.usefixtures("store")
def test_after_a_restore_to_other_keys_it_is_said_that_nobody_can_sign_in(folder: Place) -> None:
    earlier = Setting(SIGNING_KEYS, value=signing_keys.stored().value())
    rotation.replace_at_once(folder)
    earlier.save()
    signing_keys.forget()

    with pytest.raises(Conflict, match="so nobody can sign in"):
        rotation.look(folder)
    with pytest.raises(Unavailable):
        signing_keys.signer()


def test_making_the_tenants_keys_again_replaces_one_that_was_lost(folder: Place) -> None:
    before = named(signing_keys.stored())
    folder.follow(folder.read(), tokens.generate())

    keys.create("keyhaven.local")

    assert not named(signing_keys.stored()) & before
    require_clean(folder)
    assert signing_keys.signer().kid in named(signing_keys.stored())


def _elliptic() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(*form, serialization.NoEncryption()).decode()


NO_KEYS = {
    "cut": "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n",
    "of another kind": _elliptic(),
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "nothing": "",
}


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS)
def test_a_secret_that_holds_no_key_of_ours_is_mended(folder: Place, text: str) -> None:
    for mend in (rotation.replace_at_once, lambda _: keys.create("keyhaven.local")):
        folder.follow(folder.read(), text)
        signing_keys.forget()
        with pytest.raises(Unavailable):
            signing_keys.signer()
        with pytest.raises(Conflict, match="Replace the keys at once"):
            rotation.look(folder)

        mend(folder)

        require_clean(folder)
        assert signing_keys.signer().kid in named(signing_keys.stored())


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS)
def test_what_is_no_key_of_ours_takes_none_of_ours_away(folder: Place, text: str) -> None:
    own = folder.read().text
    folder.follow(folder.read(), text + own)
    signing_keys.forget()

    assert tokens.by_name(text + own) == tokens.by_name(own)
    assert signing_keys.signer() is not None


@pytest.mark.parametrize("change", ["retire", "replace"])
def test_what_was_begun_is_not_told_as_refused(folder: Place, time: Time, change: str) -> None:
    """Otherwise an operator who replaces a key in haste would think that nothing was done."""
    do(time, folder, *CHANGES[change].before)
    time.now = rotation.due(signing_keys.stored()) or time.now
    before = signing_keys.stored().keys

    with pytest.raises(rotation.CutShort, match="of the private ones not all are: no room"):
        CHANGES[change].make(Full(folder, tokens.by_name(folder.read().text)))

    assert not issubclass(rotation.CutShort, Refusal)
    assert signing_keys.stored().keys != before
    rotation.replace_at_once(folder)
    require_clean(folder)


@dataclass
class Full:
    """A place that takes no fewer keys than it has."""

    place: Place
    known: Mapping[str, str]

    def read(self) -> Held:
        return self.place.read()

    def create(self, make: Callable[[], str]) -> None:
        self.place.create(make)

    def follow(self, held: Held, text: str) -> None:
        if not tokens.by_name(text).keys() >= self.known.keys():
            raise Unavailable("no room")
        self.place.follow(held, text)


def test_a_file_that_was_removed_is_another_key_at_the_next_start(folder: Place) -> None:
    before = named(signing_keys.stored())
    assert settings.key_folder is not None
    (settings.key_folder / private_keys.SIGNING).unlink()

    keys.create_local(settings.key_folder)

    assert not named(signing_keys.stored()) & before
    require_clean(folder)


def test_making_the_tenants_keys_again_leaves_a_change_as_it_is(
    folder: Place, time: Time, digest: Digest
) -> None:
    for step in (NEXT, SIGN):
        take(step, time)
        before = digest(), folder.read().text
        keys.create("keyhaven.local")
        assert (digest(), folder.read().text) == before


def test_of_a_set_that_was_lost_the_newest_key_is_published(folder: Place, time: Time) -> None:
    newer = take(NEXT, time).newer
    Setting(SIGNING_KEYS).delete()

    signing_keys.publish()

    assert signing_keys.stored().keys == (newer,)


def test_without_a_set_nothing_is_changed(folder: Place) -> None:
    Setting(SIGNING_KEYS).delete()
    before = folder.read()
    for change in (lambda: rotation.take(NEXT, folder), lambda: rotation.replace_at_once(folder)):
        with pytest.raises(Unavailable, match="not complete"):
            change()
    assert folder.read() == before


@pytest.mark.parametrize("secret_id", [None, "keyhaven/test/nowhere"])
def test_a_secret_that_cannot_be_had_is_neither_read_nor_written(secret_id: str | None) -> None:
    nowhere = Secret(secret_id)
    with mock_aws():
        for ask in (nowhere.read, lambda: nowhere.follow(Held("", "version"), "text")):
            with pytest.raises(Unavailable):
                ask()


def test_a_file_of_keys_is_its_owners_alone(folder: Place) -> None:
    rotation.take(NEXT, folder)
    assert settings.key_folder is not None
    path = settings.key_folder / private_keys.SIGNING
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().count("BEGIN PRIVATE KEY") == 2


# The founder


@pytest.fixture
def asked(folder: Place) -> Iterator[Callable[[str], dict[str, object]]]:
    """Asks the founder, who has the rights it has in the cloud and no others."""
    [group] = (group for group in WORKERS if group.name == "founder")
    with rights_of_group(group):
        yield lambda what: founder.handler({"signing_keys": what}, None)


def test_the_founder_tells_how_the_keys_stand_and_what_comes_next(
    asked: Callable[[str], dict[str, object]], time: Time
) -> None:
    rest = asked("look")
    assert rest == {**rest, "other": None, "signs_from": None, "step": "next", "from": None}

    published = asked("next")
    assert published["signs"] == rest["signs"]
    assert (published["step"], published["from"]) == ("sign", "2026-11-22T12:00:00+00:00")

    time.pass_by(hours=24)
    changing = asked("sign")
    assert (changing["signs"], changing["other"]) == (rest["signs"], published["other"])
    assert changing["signs_from"] == "2026-11-22T12:16:00+00:00"
    assert (changing["step"], changing["from"]) == ("retire", "2026-11-22T12:21:05+00:00")

    time.pass_by(minutes=22)
    changed = asked("look")
    assert (changed["signs"], changed["signs_from"]) == (published["other"], None)
    assert changed["other"] == rest["signs"]

    assert asked("retire") == {**rest, "signs": published["other"]}


def test_the_founder_replaces_at_once(asked: Callable[[str], dict[str, object]]) -> None:
    rest = asked("look")
    replaced = asked("replace")
    assert replaced["signs"] != rest["signs"]
    assert replaced == {**rest, "signs": replaced["signs"]}


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("sign", "First comes the step 'next', possible now."),
        ("turn", "There is no step 'turn'; there are next, sign, retire, replace, look."),
    ],
)
def test_what_the_founder_refuses_is_an_answer(
    asked: Callable[[str], dict[str, object]], digest: Digest, step: str, said: str
) -> None:
    before = digest()
    assert asked(step) == {"refused": said}
    assert digest() == before


def test_the_founder_says_of_a_tenant_of_before_that_its_key_has_no_name(
    asked: Callable[[str], dict[str, object]],
) -> None:
    without_names()
    assert asked("look")["signs"] == "The first key"


def test_nothing_private_is_told(asked: Callable[[str], dict[str, object]]) -> None:
    told = [asked(step) for step in ("next", "look", "replace")]
    assert "PRIVATE" not in str(told)
