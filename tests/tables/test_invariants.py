"""The checker of what is stored: silent about a sound tenant, and not about any breach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.items.metadata import private_keys
from chalicelib.services.items.metadata.private_keys import Copy
from chalicelib.services.users.people.users import new_user
from chalicelib.storage.base import every_table
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.catalogue import tables
from chalicelib.tables.claims import Claim
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from chalicelib.tables.items.comments import Comment
from chalicelib.tables.items.holdings import RESOURCE, Holding
from chalicelib.tables.items.metadata_keys import SHARED_KEY, MetadataKey
from chalicelib.tables.items.metadata_uses import MetadataUse
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.items.session_keys import SessionKey
from chalicelib.tables.items.tags import Tag
from chalicelib.tables.settings import RBACS, ROLES, SIGNING_KEYS, TENANT, Setting
from chalicelib.tables.tokens import REFRESH, Token
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User
from integrity.invariants import violations
from tests.support.faults.hooks import Killed, Killing
from tests.support.faults.large_operations import lines
from tests.support.model.invariants import check_invariants
from tests.support.proving import fewer
from tests.support.world import make
from tests.support.world.directories import person
from tests.support.world.items import session_keys
from tests.support.world.items.comments import commented
from tests.support.world.operator.releases import beside, newer, older, rewrite_all

READ, OWNER = PermissionType.READ, PermissionType.OWNER


@pytest.fixture
def tenant(store, ada, betty, carol):
    """People, a group, and items of one, shared, of a group, in the new format, and deleted.

    There are comments on two of them. One user has session keys, in parts.
    """
    Setting(TENANT, value={}).save()
    team = make.group(betty, carol)
    make.resource(team)
    own = {"metadata": "m", "metadata_key_id": betty.gpgkey_id, "metadata_key_type": "user_key"}
    make.resource(betty, **own)
    gone = make.resource(ada)
    commented(ada, gone)
    assert ada.client.delete(f"/resources/{gone}.json").status == 200
    return Tenant(store, ada, betty, make.resource(ada, {betty: READ, team: READ}))


class Tenant:
    def __init__(self, store, ada, betty, shared):
        self.store, self.ada, self.betty, self.shared = store, ada, betty, shared
        self.said = commented(betty, shared)
        self.kept = session_keys.added(betty, session_keys.of_length(betty, 500_000))["id"]

    def resource(self):
        return Resource.get(self.shared)

    def holding(self):
        return Holding.get(self.betty.id, self.shared)

    def comment(self):
        return Comment.get(self.shared, self.said)

    def entry(self):
        return SessionKey.get(self.betty.id, self.kept)

    def user(self):
        return User.get(self.betty.id)

    def change(self, row, **values):
        for name, value in values.items():
            setattr(row, name, value)
        row.save()

    def permit(self, holder_id, **values):
        """Give somebody a permission like the owner's, but for these values."""
        row = self.resource()
        usual = replace(row.permissions[self.ada.id], id=new_id(), aro_id=holder_id)
        self.change(row, permissions={**row.permissions, holder_id: replace(usual, **values)})


def _found(store):
    names = [table.stored_as() for table in every_table()]
    return violations({name.removeprefix("test-"): store.rows(name) for name in names})


def _comment(resource_id, user_id):
    now = clock.now()
    row = Comment(
        resource_id, new_id(), content="hello", user_id=user_id, created=now, modified=now
    )
    row.save()
    row.locator().save()


def _role(name):
    return Setting(ROLES, value={"roles": [{"id": new_id(), "name": name}]})


def _refresh(user_id, **values):
    return Token(new_id(), kind=REFRESH, user_id=user_id, session="s", expires=1, **values)


def _shared_key(**values):
    now = clock.now()
    usual = {
        "fingerprint": new_id(),
        "armored_key": "public",
        "encryption_key_ids": {"A"},
        "created": now,
        "modified": now,
        "created_by": "ada",
        "modified_by": "ada",
    }
    return MetadataKey(SHARED_KEY, new_id(), **usual | values)


def _saved(key):
    key.save()
    return key.id


def _gone_key():
    return _saved(_shared_key(expired=clock.now(), deleted=clock.now()))


def _use(key_id, item_id):
    return MetadataUse(key_id, item_id, kind=RESOURCE)


def _described(tenant, key_id, *, noted=True):
    metadata = {"metadata": "m", "metadata_key_id": key_id, "metadata_key_type": SHARED_KEY}
    tenant.change(tenant.resource(), name=None, **metadata)
    if noted:
        _use(key_id, tenant.shared).save()


def _tag(tenant, *, noted=True, **values):
    usual = {"owner": tenant.ada.id, "slug": "x", "marks": {new_id()}, "links": 1}
    tag = Tag(id=new_id(), **usual | values)
    tag.save()
    if noted and tag.use:
        tag.use.save()


def _copy(key_id, user_id):
    return private_keys.new(Copy(key_id, user_id, "data"), None)


def _link(name, user_id, *, known=True):
    entry = person(name)
    DirectoryLink.of(Model.USERS, entry, user_id).save()
    if known:
        DirectoryLink.linked(user_id, entry.id).save()


def _relation(tenant, user_id):
    [(group_id, belonging)] = tenant.user().groups.items()
    DirectoryLink.relation(belonging.id, group_id, user_id).save()


def _unfinished(tenant):
    """A large change that is committed, while its rows are still to be written."""
    row = tenant.resource()
    change = Change(row, row.copy())
    for _ in range(100):
        change.then_put(Claim("none", new_id(), subject=new_id()))
    with Killing(at=7), pytest.raises(Killed):
        change.commit()
    return tenant.resource()


def test_a_sound_tenant_passes(tenant):
    check_invariants(tenant.store)


def test_an_empty_tenant_passes(store):
    check_invariants(store)


def test_links_relations_and_exemptions_pass_and_outlive_whom_they_are_of(tenant):
    _link("betty", tenant.betty.id)
    _relation(tenant, tenant.betty.id)
    DirectoryLink.exemption(Model.USERS, tenant.betty.id).save()
    DirectoryLink.exemption(Model.ENTRIES, new_id()).save()
    check_invariants(tenant.store)
    _link("dave", make.user("dave").id)
    dave = User.get(Claim.find_user_id("dave@example.com"))
    assert tenant.ada.client.delete(f"/users/{dave.id}.json").status == 200

    check_invariants(tenant.store)


def test_a_change_on_its_way_passes(tenant):
    assert _unfinished(tenant).lock is not None

    check_invariants(tenant.store)


BREACHES = {
    "a user has access and no secret": ("I1", lambda t: t.holding().delete()),
    "a holding has no secret": ("I1", lambda t: t.change(t.holding(), secret_data=None)),
    "a user without access has a secret": (
        "I1",
        lambda t: Holding(make.user("dave").id, t.shared, secret_data="pgp").save(),
    ),
    "a member has no secret of the group's item": (
        "I1",
        lambda t: t.change(make.user("dave").user, groups=t.user().groups),
    ),
    "nobody owns an item": ("I2", lambda t: t.permit(t.ada.id, type=READ)),
    "a permission is of an unknown holder": ("I4", lambda t: t.permit(new_id())),
    "a permission is of an empty group": ("I4", lambda t: t.permit(new_id(), aro="Group")),
    "a permission is of something else": ("I4", lambda t: t.permit(t.ada.id, aro="Role")),
    "two permissions share an identifier": (
        "I4",
        lambda t: t.permit(t.betty.id, id=t.resource().permissions[t.ada.id].id),
    ),
    "a user's own key is on a shared item": (
        "I6",
        lambda t: t.change(
            t.resource(),
            name=None,
            metadata="m",
            metadata_key_id=t.ada.gpgkey_id,
            metadata_key_type="user_key",
        ),
    ),
    "an item is of two formats": ("I13", lambda t: t.change(t.resource(), metadata="m")),
    "an item has no name": ("I13", lambda t: t.change(t.resource(), name=None)),
    "an item is filed elsewhere": ("I13", lambda t: t.change(t.resource(), live_type_id="x")),
    "a deleted item keeps its access list": ("I9", lambda t: t.change(t.resource(), deleted=True)),
    "a holding outlives its item": ("I9", lambda t: t.resource().delete()),
    "a holding outlives its user": ("I9", lambda t: t.change(t.user(), deleted=True)),
    "an address is not claimed": (
        "I10",
        lambda t: Claim.username(t.betty.user.username, t.betty.id).delete(),
    ),
    "an address is claimed for nobody": ("I10", lambda t: Claim.username("x@y.z", "nobody").save()),
    "two users have one address": (
        "I10",
        lambda t: t.change(t.user(), username=t.ada.user.username.upper()),
    ),
    "a fingerprint is not claimed": (
        "I10",
        lambda t: Claim.fingerprint(t.betty.key.fingerprint, "", "").delete(),
    ),
    "a fingerprint is claimed for no key": (
        "I10",
        lambda t: Claim.fingerprint("ABC", new_id(), t.ada.id).save(),
    ),
    "a user has two keys": (
        "I10",
        lambda t: t.change(Gpgkey.get(t.ada.gpgkey_id), user_id=t.betty.id),
    ),
    "an active user has no key": ("I10", lambda t: t.change(t.user(), gpgkey_id=None)),
    "a waiting user has a key": ("I10", lambda t: t.change(t.user(), active=False)),
    "two favorites share an identifier": (
        "I10",
        lambda t: [
            t.change(Holding.get(who.id, t.shared), favorite_id="star") for who in (t.ada, t.betty)
        ],
    ),
    "a comment is not located": ("I10", lambda t: t.comment().locator().delete()),
    "a comment is located elsewhere": (
        "I10",
        lambda t: t.change(t.comment().locator(), located_at=new_id()),
    ),
    "a comment is located and gone": ("I10", lambda t: t.comment().delete()),
    "a comment replies to one of another item": (
        "I10",
        lambda t: t.change(
            t.comment(), parent_id=commented(t.ada, make.resource(t.ada, {t.betty: READ}))
        ),
    ),
    "a comment is of no item": ("I9", lambda t: _comment(new_id(), t.ada.id)),
    "a comment is of nobody": ("I9", lambda t: t.change(t.comment(), user_id=new_id())),
    "session keys lie nowhere": ("I13", lambda t: t.change(t.entry(), parts=None)),
    "session keys lie in a row and in parts": ("I13", lambda t: t.change(t.entry(), data="pgp")),
    "a part of session keys is gone": (
        "I13",
        lambda t: SessionKey.get(t.betty.id, t.entry().parts[1]).delete(),
    ),
    "a part is of no session keys": (
        "I13",
        lambda t: SessionKey(t.betty.id, new_id(), data="pgp").save(),
    ),
    "a part is of somebody else": (
        "I13",
        lambda t: t.change(SessionKey.get(t.betty.id, t.entry().parts[0]), user_id=t.ada.id),
    ),
    "a part is of two entries": (
        "I13",
        lambda t: t.change(t.entry(), id=new_id()),
    ),
    "session keys outlive their user": (
        "I9",
        lambda t: SessionKey(new_id(), new_id(), data="pgp", created=clock.now()).save(),
    ),
    "a session has two refresh tokens": (
        "I11",
        lambda t: [_refresh(t.ada.id).save() for _ in range(2)],
    ),
    "a token was exchanged and not spent": (
        "I11",
        lambda t: _refresh(t.ada.id, successor="next").save(),
    ),
    "a token was exchanged twice": (
        "I11",
        lambda t: [
            _refresh(t.ada.id, successor="next", spent=clock.now()).save() for _ in range(2)
        ],
    ),
    "a token is of nobody": ("I11", lambda t: _refresh(new_id()).save()),
    "a private key is stored": (
        "I12",
        lambda t: t.change(t.holding(), secret_data="-----BEGIN PGP PRIVATE KEY BLOCK-----"),
    ),
    "a signing key is stored whole": (
        "I12",
        lambda t: Setting(SIGNING_KEYS, value={"keys": [{"kty": "RSA", "d": "x"}]}).save(),
    ),
    "an item has no version": ("I14", lambda t: t.change(t.resource(), version=0)),
    "an item changed before it was made": (
        "I14",
        lambda t: t.change(t.resource(), modified=clock.now().replace(year=2000)),
    ),
    "an operation is not there": ("I13", lambda t: t.change(t.resource(), lock=new_id())),
    "an operation lost a line": (
        "I13",
        lambda t: lines(str(_unfinished(t).lock))[6].delete(),
    ),
    "three metadata keys are active": ("I7", lambda _: [_shared_key().save() for _ in range(3)]),
    "a metadata key is deleted too early": (
        "I7",
        lambda _: _shared_key(deleted=clock.now()).save(),
    ),
    "two metadata keys have one fingerprint": (
        "I10",
        lambda _: [_shared_key(fingerprint="A").save() for _ in range(2)],
    ),
    "an item is for a deleted metadata key": ("I7", lambda t: _described(t, _gone_key())),
    "an item is for no metadata key": ("I7", lambda t: _described(t, new_id())),
    "it is not noted what an item is for": (
        "I7",
        lambda t: _described(t, _saved(_shared_key()), noted=False),
    ),
    "it is noted what nothing is for": ("I7", lambda t: _use(new_id(), t.shared).save()),
    "it is not noted that a tag is in clear": ("I7", lambda t: _tag(t, noted=False)),
    "a tag is for no metadata key": (
        "I7",
        lambda t: _tag(t, metadata="m", metadata_key_id=new_id(), metadata_key_type=SHARED_KEY),
    ),
    "a tag is of nobody": ("I9", lambda t: _tag(t, owner=new_id())),
    "a tag has neither slug nor metadata": ("I13", lambda t: _tag(t, slug=None)),
    "a tag has both": ("I13", lambda t: _tag(t, slug="x", metadata="m", metadata_key_id="k")),
    "a personal tag is called as a shared one": ("I13", lambda t: _tag(t, slug="#x")),
    "two tags have one slug": ("I10", lambda t: [_tag(t), _tag(t)]),
    "two tags have one mark": ("I10", lambda t: [_tag(t, marks={"m"}), _tag(t, marks={"m"})]),
    "a tag has more links than it counts": (
        "I13",
        lambda t: [
            _tag(t, owner=t.betty.id, marks={"a", "b"}),
            t.change(t.holding(), tags={"a", "b"}),
        ],
    ),
    "a copy is of a deleted metadata key": ("I7", lambda t: _copy(_gone_key(), t.ada.id).save()),
    "a copy is of nobody": ("I9", lambda _: _copy(_saved(_shared_key()), new_id()).save()),
    "a user does not know of their copy": (
        "I7",
        lambda t: _copy(_saved(_shared_key()), t.ada.id).save(),
    ),
    "two entries are linked to one user": (
        "I10",
        lambda t: [_link("betty", t.betty.id), _link("liz", t.betty.id)],
    ),
    "a user does not know of their link": (
        "I10",
        lambda t: _link("betty", t.betty.id, known=False),
    ),
    "a user is linked to an entry that is not": (
        "I10",
        lambda t: DirectoryLink.linked(t.betty.id, new_id()).save(),
    ),
    "an entry is linked to nobody": ("I9", lambda _: _link("betty", new_id())),
    "nobody is left alone by runs": (
        "I9",
        lambda _: DirectoryLink.exemption(Model.USERS, new_id()).save(),
    ),
    "somebody was asked for members of no group": (
        "I9",
        lambda _: DirectoryLink.asked(new_id(), "digest").save(),
    ),
    "a run noted a membership of nobody": (
        "I9",
        lambda _: DirectoryLink.relation(new_id(), new_id(), new_id()).save(),
    ),
    "a run noted somebody else's membership": ("I3", lambda t: _relation(t, t.ada.id)),
    "something is denied to a role that is gone": (
        "I9",
        lambda _: Setting(RBACS, value={"roles": {new_id(): {}}}).save(),
    ),
    "something is denied to administrators": (
        "I9",
        lambda _: Setting(RBACS, value={"roles": {roles.ADMIN.id: {}}}).save(),
    ),
    "nobody administers": ("W9", lambda t: t.change(t.ada.user, role_id=roles.USER.id)),
    "a user has no role there is": ("I9", lambda t: t.change(t.ada.user, role_id=new_id())),
    "two roles have one name": ("I10", lambda t: _role("Admin ").save()),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_each_breach_is_found(tenant, breach):
    rule, break_it = BREACHES[breach]
    break_it(tenant)

    assert rule in {found.rule for found in _found(tenant.store)}


@pytest.mark.parametrize("other", [newer, older])
def test_a_sound_tenant_passes_whatever_form_rows_have(tenant, other):
    """Also amid a large change, whose lines are of a form as well."""
    assert _unfinished(tenant).lock is not None
    with beside(other, *tables()):
        rewrite_all(tenant.store, *tables())

        check_invariants(tenant.store)


@pytest.mark.parametrize("breach", [*BREACHES][:: fewer(6, 1)])
def test_a_breach_is_found_whatever_form_rows_have(tenant, breach):
    rule, break_it = BREACHES[breach]
    break_it(tenant)
    with beside(newer, *tables()):
        rewrite_all(tenant.store, *tables())

        assert rule in {found.rule for found in _found(tenant.store)}


def test_a_permission_of_an_unknown_type_is_found(tenant):
    stored = {"resources": tenant.store.rows("test-resources")}
    assert "unknown type" not in " ".join(map(str, violations(stored)))
    live = next(row for row in stored["resources"] if not row["deleted"]["BOOL"])
    for permission in live["permissions"]["M"].values():
        permission["M"]["type"] = {"N": "8"}

    assert "unknown type" in " ".join(map(str, violations(stored)))


def test_nothing_secret_is_told(tenant):
    tenant.change(tenant.holding(), secret_data="PRIVATE KEY BLOCK canary")

    assert "canary" not in " ".join(map(str, _found(tenant.store)))


def test_a_user_who_waits_for_the_setup_is_no_breach(tenant):
    user = new_user("dave@example.com", "Dave", "Waiting")
    user.save()
    Claim.username(user.username, user.id).save()

    check_invariants(tenant.store)
