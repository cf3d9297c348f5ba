"""What must be true of everything that is stored, checked over whole tables.

For tests after each step, and for a restore before it is used: tables come back one by one
and are then not one consistent cut. What counts is the state in which whoever meets the rows
would find them: large changes that are committed count as applied (`integrity/settling.py`).

The rules carry the numbers of the threat model; those about one answer (a reader sees no half,
a request repeats) cannot be seen in the rows.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chalicelib.bodies.users.roles import comparable
from chalicelib.domain.folding import folded
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.tables.claims import FINGERPRINT, GROUP, SCIM_NAME, USERNAME
from chalicelib.tables.items import items
from chalicelib.tables.items.comments import LOCATOR
from chalicelib.tables.items.holdings import RESOURCE
from chalicelib.tables.items.session_keys import COUNT
from chalicelib.tables.settings import RBACS, ROLES, SIGNING_KEYS, TENANT
from chalicelib.tables.tokens import BEARER, COOKIE, REFRESH
from integrity import directories, metadata, tags, trees
from integrity.settling import settled
from integrity.stored import Stored, Violation, plain

_V4 = ("name", "username", "uri", "description")
_V5 = ("metadata", "metadata_key_id", "metadata_key_type")
_PRIVATE = ("PRIVATE KEY BLOCK", "BEGIN PRIVATE KEY", "BEGIN RSA PRIVATE KEY")


_MESSAGE = "-----BEGIN PGP MESSAGE-----"


def violations(tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[Violation]:
    """All that is wrong, given each table's rows as DynamoDB sends them, by name."""
    raw = settled({name: [dict(row) for row in rows] for name, rows in tables.items()})
    stored = Stored({name: [plain(row) for row in rows] for name, rows in raw.items()})
    return [found for check in _CHECKS for found in check(stored)]


def _secrets_match_access(stored: Stored) -> Iterator[Violation]:
    for item in stored.live_items:
        entitled, holders = stored.entitled(item), stored.holders[item["id"]]
        yield from _each("I1", item["id"], "has access and no secret", entitled - holders)
        yield from _each("I1", item["id"], "has a secret and no access", holders - entitled)
    kinds = {row["id"]: kind for kind, row in stored.items}
    for row in stored.rows("holdings"):
        kind = row["kind"] or RESOURCE
        if kinds.get(row["item_id"], kind) != kind:
            yield Violation("I1", row["item_id"], f"{row['user_id']} holds it as a {kind}")
        if items.tables()[kind].has_secrets != (row["secret_data"] is not None):
            yield Violation("I1", row["item_id"], f"{row['user_id']} holds it without a secret")


def _each(rule: str, subject: str, says: str, users: set[str]) -> Iterator[Violation]:
    for user_id in sorted(users):
        yield Violation(rule, subject, f"{user_id} {says}")


def _owner_exists(stored: Stored) -> Iterator[Violation]:
    for item in stored.live_items:
        if not stored.entitled(item, PermissionType.OWNER):
            yield Violation("I2", item["id"], "nobody owns it")


def _permissions_are_sound(stored: Stored) -> Iterator[Violation]:
    types = {int(each) for each in PermissionType}
    ids: Counter[str] = Counter()
    for item in stored.live_items:
        for holder, permission in item["permissions"].items():
            ids[permission["id"]] += 1
            if permission["type"] not in types:
                yield Violation("I4", item["id"], f"{holder} has an unknown type of permission")
            if permission["aro"] not in ("User", "Group"):
                yield Violation("I4", item["id"], f"{holder} is neither user nor group")
            if permission["aro"] == "User" and holder not in stored.live_users:
                yield Violation("I4", item["id"], f"the holder {holder} is no live user")
            if permission["aro"] == "Group" and not stored.members[holder]:
                yield Violation("I4", item["id"], f"the holder {holder} is no live group")
    for permission_id, count in ids.items():
        if count > 1:
            yield Violation("I4", permission_id, "two permissions have this identifier")


def _formats_are_pure(stored: Stored) -> Iterator[Violation]:
    for item in stored.live_resources:
        v4, v5 = ([n for n in names if item[n] is not None] for names in (_V4, _V5))
        if v5 and (v4 or len(v5) < len(_V5)):
            yield Violation("I13", item["id"], "its metadata are half in one format")
        if not v5 and item["name"] is None:
            yield Violation("I13", item["id"], "it has neither metadata nor a name")
        if item["live_type_id"] != item["resource_type_id"]:
            yield Violation("I13", item["id"], "it is filed under another type than it has")


def _personal_metadata_stay_personal(stored: Stored) -> Iterator[Violation]:
    for item in stored.live_resources:
        if item["metadata_key_type"] == "user_key":
            keys = [
                stored.users.get(holder, {}).get("gpgkey_id")
                for holder, permission in item["permissions"].items()
                if permission["aro"] == "User"
            ]
            if len(item["permissions"]) != 1 or keys != [item["metadata_key_id"]]:
                yield Violation("I6", item["id"], "a user's own key is on what is not theirs alone")


def _deleted_is_final(stored: Stored) -> Iterator[Violation]:
    kept = {item["id"]: item for _, item in stored.items}
    for item in kept.values():
        if item["deleted"] and (item["permissions"] or item["live_type_id"]):
            yield Violation("I9", item["id"], "it is deleted, and its access list is not")
    for row in stored.rows("holdings"):
        item = kept.get(row["item_id"], {})
        if not item or item["deleted"]:
            yield Violation("I9", row["item_id"], f"{row['user_id']} holds what is gone")
        if row["user_id"] not in stored.live_users:
            yield Violation("I9", row["user_id"], f"this user is gone and holds {row['item_id']}")


def _addresses_are_claimed(stored: Stored) -> Iterator[Violation]:
    claims = {row["value"]: row["subject"] for row in _claims(stored, USERNAME)}
    addresses = Counter(folded(user["username"]) for user in stored.live_users.values())
    for user_id, user in stored.live_users.items():
        if claims.get(folded(user["username"])) != user_id:
            yield Violation("I10", user_id, "the user's address is not claimed for them")
        if addresses[folded(user["username"])] > 1:
            yield Violation("I10", user_id, "somebody else has the same address")
    for address, user_id in claims.items():
        claimant = stored.live_users.get(user_id)
        if claimant is None or folded(claimant["username"]) != address:
            yield Violation("I10", user_id, "an address is claimed for a user who has it not")


def _scim_names_are_claimed(stored: Stored) -> Iterator[Violation]:
    claims = {(row["value"], row["subject"]) for row in _claims(stored, SCIM_NAME)}
    users = stored.live_users.items()
    names = {(folded(user["scim_name"]), id_) for id_, user in users if user.get("scim_name")}
    for _, user_id in claims ^ names:
        yield Violation("I10", user_id, "what a directory calls the user and its claim differ")


def _keys_are_claimed(stored: Stored) -> Iterator[Violation]:
    claims = {row["value"]: row for row in _claims(stored, FINGERPRINT)}
    for key_id, key in stored.gpgkeys.items():
        claim = claims.get(key["fingerprint"].upper())
        if claim is None or (claim["subject"], claim["owner"]) != (key_id, key["user_id"]):
            yield Violation("I10", key_id, "the key's fingerprint is not claimed for it")
    for fingerprint, claim in claims.items():
        if stored.gpgkeys.get(claim["subject"], {}).get("fingerprint", "").upper() != fingerprint:
            yield Violation("I10", claim["subject"], "a fingerprint is claimed for no such key")


def _claims(stored: Stored, kind: str) -> list[defaultdict[str, Any]]:
    return [row for row in stored.rows("claims") if row["kind"] == kind]


def _each_user_has_their_key(stored: Stored) -> Iterator[Violation]:
    live = Counter(key["user_id"] for key in stored.gpgkeys.values() if not key["deleted"])
    for user_id, user in stored.live_users.items():
        key = stored.gpgkeys.get(user["gpgkey_id"] or "")
        if live[user_id] > 1:
            yield Violation("I10", user_id, "the user has several keys")
        if user["active"] and (key is None or key["deleted"] or key["user_id"] != user_id):
            yield Violation("I10", user_id, "the user is active without a key of their own")
        if not user["active"] and (user["gpgkey_id"] or live[user_id]):
            yield Violation("I10", user_id, "the user has a key and did not complete the setup")


def _favorites_are_single(stored: Stored) -> Iterator[Violation]:
    ids = Counter(row["favorite_id"] for row in stored.rows("holdings") if row["favorite_id"])
    for favorite_id, count in ids.items():
        if count > 1:
            yield Violation("I10", favorite_id, "two favorites have this identifier")


def _comments_are_located(stored: Stored) -> Iterator[Violation]:
    rows = stored.rows("comments")
    located = {row["resource_id"]: row["located_at"] for row in rows if row["id"] == LOCATOR}
    comments = [row for row in rows if row["id"] != LOCATOR]
    for row in comments:
        if located.get(row["id"]) != row["resource_id"]:
            yield Violation("I10", row["id"], "the comment is not located where it is")
        if located.get(row["parent_id"], row["resource_id"]) != row["resource_id"]:
            yield Violation("I10", row["id"], "it replies to a comment of another resource")
        if row["resource_id"] not in stored.resources:
            yield Violation("I9", row["id"], "a comment is of no resource")
        if row["user_id"] not in stored.users:
            yield Violation("I9", row["id"], "nobody wrote this comment")
    for comment_id in sorted(located.keys() - {row["id"] for row in comments}):
        yield Violation("I10", comment_id, "a comment is located and not there")


def _session_keys_are_whole(stored: Stored) -> Iterator[Violation]:
    rows = [row for row in stored.rows("session_keys") if row["id"] != COUNT]
    there = {(row["user_id"], row["id"]) for row in rows if not row["created"]}
    entries = [row for row in rows if row["created"]]
    named = Counter((row["user_id"], part) for row in entries for part in row["parts"] or ())
    for row in entries:
        if (row["data"] is None) != bool(row["parts"]):
            yield Violation("I13", row["id"], "session keys lie neither in one row nor in parts")
    for _, part_id in sorted(named.keys() - there):
        yield Violation("I13", part_id, "a part of session keys is missing")
    for _, part_id in sorted(there - named.keys()):
        yield Violation("I13", part_id, "a part is of no session keys")
    shares = Counter({part_id: count for (_, part_id), count in named.items()})
    yield from _at_most_one("I13", "a part is of several session keys", shares)


def _session_keys_are_of_somebody(stored: Stored) -> Iterator[Violation]:
    users = {row["user_id"] for row in stored.rows("session_keys")}
    for user_id in sorted(users - stored.live_users.keys()):
        yield Violation("I9", user_id, "this user is gone and has session keys")


def _tokens_are_spent_once(stored: Stored) -> Iterator[Violation]:
    unspent: Counter[str] = Counter()
    successors: Counter[str] = Counter()
    for row in stored.rows("tokens"):
        if row["kind"] == REFRESH:
            unspent[row["session"]] += row["spent"] is None
            successors[row["successor"] or ""] += 1
            if row["successor"] and row["spent"] is None:
                yield Violation("I11", row["hash"], "a token has a successor and is not spent")
        if row["user_id"] and row["user_id"] not in stored.users:
            yield Violation("I11", row["hash"], "a token is of nobody")
    yield from _at_most_one("I11", "a session has several refresh tokens", unspent)
    yield from _at_most_one("I11", "a token succeeds several", successors)


def _second_factors_are_sealed(stored: Stored) -> Iterator[Violation]:
    """What an app knows is stored encrypted, with when and with which code it was set up."""
    for row in stored.rows("users"):
        sealed = row["totp"]
        if sealed is not None and not sealed.startswith(_MESSAGE):
            yield Violation("I12", row["id"], "a second factor is stored in clear")
        facts = [row[name] is None for name in ("totp", "totp_verified", "totp_step")]
        if len(set(facts)) > 1:
            yield Violation("I13", row["id"], "a second factor is set up in part")
    for row in stored.rows("tokens"):
        if row["second_factor"] is not None and row["kind"] not in (BEARER, COOKIE):
            yield Violation("I11", row["hash"], "what is no session has a second factor given")


def _at_most_one(rule: str, says: str, counts: Counter[str]) -> Iterator[Violation]:
    for subject, count in counts.items():
        if subject and count > 1:
            yield Violation(rule, subject, says)


def _nothing_decrypts(stored: Stored) -> Iterator[Violation]:
    for table, rows in stored.tables.items():
        for row in rows:
            text = json.dumps(row, default=str)
            if any(mark in text for mark in _PRIVATE):
                yield Violation("I12", table, "a private key is stored")
    for row in stored.rows("settings"):
        keys = json.loads(row["value"] or "{}") if row["name"] == SIGNING_KEYS else {}
        if any("d" in key for key in keys.get("keys", ())):
            yield Violation("I12", SIGNING_KEYS, "the private half of a signing key is stored")


def _versions_count(stored: Stored) -> Iterator[Violation]:
    for _, item in stored.items:
        if not isinstance(item["version"], int) or item["version"] < 1:
            yield Violation("I14", item["id"], "its version is none")
        if item["modified"] < item["created"]:
            yield Violation("I14", item["id"], "it was changed before it was made")


def _operations_are_complete(stored: Stored) -> Iterator[Violation]:
    """After settling: a lock that is left is of an operation whose lines are not all there."""
    of_groups_and_people = [*stored.rows("groups"), *stored.rows("users")]
    for row in [*of_groups_and_people, *(item for _, item in stored.items)]:
        if row["lock"] is not None:
            yield Violation("I13", row["id"], "an operation that is not complete holds it")


def _secrets_are_of_one_revision(stored: Stored) -> Iterator[Violation]:
    for row in stored.rows("holdings"):
        item = stored.resources.get(row["item_id"], {})
        if item and row["secret_revision"] != item["secret_revision"]:
            yield Violation("I13", row["item_id"], f"{row['user_id']} has a secret of another time")


def _groups_are_sound(stored: Stored) -> Iterator[Violation]:
    belongings = {
        (group_id, user_id): entry
        for user_id, user in stored.live_users.items()
        for group_id, entry in (user["groups"] or {}).items()
    }
    memberships = {(row["group_id"], row["user_id"]): row for row in stored.rows("memberships")}
    for group_id, user_id in belongings.keys() ^ memberships.keys():
        yield Violation("I3", group_id, f"group and user {user_id} disagree on the membership")
    for key in belongings.keys() & memberships.keys():
        entry, row = belongings[key], memberships[key]
        if (entry["id"], entry["is_admin"]) != (row["id"], row["is_admin"]):
            yield Violation("I3", key[0], f"group and user {key[1]} differ on the membership")
    managers = Counter(row["group_id"] for row in memberships.values() if row["is_admin"])
    for group_id, group in stored.groups.items():
        if not group["deleted"] and not managers[group_id]:
            yield Violation("I3", group_id, "nobody manages the group")
    for group_id, user_id in memberships:
        if stored.groups.get(group_id, {"deleted": True})["deleted"]:
            yield Violation("I9", group_id, f"{user_id} is a member of what is gone")


def _groups_know_their_items(stored: Stored) -> Iterator[Violation]:
    listed = {(row["group_id"], row["item_id"]) for row in stored.rows("group_items")}
    shared = {
        (holder, item["id"])
        for item in stored.live_items
        for holder, permission in item["permissions"].items()
        if permission["aro"] == "Group"
    }
    for group_id, item_id in listed ^ shared:
        yield Violation("I4", group_id, f"group and item {item_id} disagree on the sharing")


def _group_names_are_claimed(stored: Stored) -> Iterator[Violation]:
    claims = {(row["value"], row["subject"]) for row in _claims(stored, GROUP)}
    live = {id_: row for id_, row in stored.groups.items() if not row["deleted"]}
    names = {(folded(row["name"]), group_id) for group_id, row in live.items()}
    for _, group_id in claims ^ names:
        yield Violation("I10", group_id, "the group's name and its claim differ")
    if len({name for name, _ in names}) < len(names):
        yield Violation("I10", "groups", "two groups have one name")


def _somebody_administers(stored: Stored) -> Iterator[Violation]:
    is_founded = any(row["name"] == TENANT for row in stored.rows("settings"))
    administrators = [u for u in stored.live_users.values() if u["role_id"] == roles.ADMIN.id]
    if is_founded and not administrators:
        yield Violation("W9", TENANT, "nobody is an administrator")


def _roles_are_there(stored: Stored) -> Iterator[Violation]:
    custom = [role for document in _documents(stored, ROLES) for role in document["roles"]]
    known = roles.BY_ID.keys() | {role["id"] for role in custom}
    for user_id, user in stored.live_users.items():
        if user["role_id"] not in known:
            yield Violation("I9", user_id, "the user has a role that is not there")
    names = {role.name for role in roles.BUILT_IN} | {comparable(role["name"]) for role in custom}
    if len(names) < len(known):
        yield Violation("I10", ROLES, "two roles have one name")
    controlled = {
        role_id for document in _documents(stored, RBACS) for role_id in document["roles"]
    }
    for role_id in sorted(controlled - known | controlled & {roles.ADMIN.id, roles.GUEST.id}):
        yield Violation("I9", role_id, "something is allowed or denied to what is no role for it")


def _documents(stored: Stored, name: str) -> Iterator[Any]:
    for row in stored.rows("settings"):
        if row["name"] == name:
            yield json.loads(row["value"])


_CHECKS = (
    _secrets_match_access,
    _owner_exists,
    _permissions_are_sound,
    _formats_are_pure,
    _personal_metadata_stay_personal,
    _deleted_is_final,
    _addresses_are_claimed,
    _keys_are_claimed,
    _scim_names_are_claimed,
    _each_user_has_their_key,
    _favorites_are_single,
    _comments_are_located,
    _session_keys_are_whole,
    _session_keys_are_of_somebody,
    _tokens_are_spent_once,
    _second_factors_are_sealed,
    _nothing_decrypts,
    _versions_count,
    _operations_are_complete,
    _secrets_are_of_one_revision,
    _groups_are_sound,
    _groups_know_their_items,
    _group_names_are_claimed,
    _somebody_administers,
    _roles_are_there,
    trees.nothing_lies_in_itself,
    trees.what_lies_where_is_noted,
    metadata.keys_are_sound,
    metadata.keys_are_there,
    metadata.copies_are_of_users,
    directories.nobody_is_linked_twice,
    directories.links_lead_somewhere,
    directories.relations_are_of_their_memberships,
    tags.tags_are_of_somebody,
    tags.tags_are_whole,
    tags.slugs_are_single,
    tags.links_are_counted,
)
