"""Tags whose slugs are encrypted: made, changed, rotated and upgraded."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse
from tests.support.faults.deaths import after_commit
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Response
from tests.support.world import make
from tests.support.world.items.metadata import (
    KEYS_SETTINGS,
    PERSONAL,
    SharedKey,
    described,
    expire,
    opened,
    shared,
)
from tests.support.world.items.resources import metadata, path
from tests.support.world.items.tags import (
    allow_v5_tags,
    common,
    index,
    listed,
    own,
    rename,
    slugs,
    tag,
    tagged,
)
from tests.support.world.keys import message

READ, UPDATE, OWNER = PermissionType
INVALID = "Could not validate request data."
INVALID_TAGS = "Could not validate tags data."
NOT_SAVED = "Could not save the tags, try again later."
NO_SHARED = "You do not have the permission to edit shared tags on this resource."
BOTH = "V4 related fields are not supported for V5."
MEMBERS = {"id", "metadata", "metadata_key_id", "metadata_key_type", "is_shared"}
ROTATE, UPGRADE = "/metadata/rotate-key/tags.json", "/metadata/upgrade/tags.json"


@pytest.fixture
def key(ada, betty) -> SharedKey:
    made = shared(ada, betty)
    allow_v5_tags(ada)
    return made


def uses(store: Any) -> set[tuple[str, str]]:
    rows = store.rows(MetadataUse.stored_as())
    return {
        (row["metadata_key_id"]["S"], row["item_id"]["S"])
        for row in rows
        if row["kind"]["S"] == "Tag"
    }


def rules(response: Response, *where: Any) -> dict[str, list[str]]:
    """The broken rules of what is told at a place of the answer's body."""
    errors = response.body
    for step in where:
        errors = errors[step]
    return {field: [*broken] for field, broken in errors.items()}


# Setting


def test_a_tag_is_encrypted_for_its_user_or_for_all(ada, betty, key, store):
    resource_id = make.resource(ada, {betty: READ})

    response = tag(ada, resource_id, own(ada, "mine"), common(key, "ours"), "plain")

    assert response.status == 200
    first, second, plain = response.body
    assert {*first} == {*second} == MEMBERS
    assert plain["slug"] == "plain"
    by_key = {row["metadata_key_id"]: row for row in (first, second)}
    assert opened(key, by_key[key.id]["metadata"]) == "ours"
    assert by_key[ada.gpgkey_id]["is_shared"] is False
    assert listed(betty, resource_id) == [by_key[key.id]]
    assert index(betty) == [by_key[key.id]]
    assert listed(ada, resource_id) == response.body
    assert uses(store) == {(key.id, by_key[key.id]["id"]), (CLEAR, plain["id"])}


def test_the_key_of_the_user_need_not_be_named(ada, key):
    [row] = tag(ada, make.resource(ada), own(ada, metadata_key_id=None)).body

    assert row["metadata_key_id"] == ada.gpgkey_id


def test_whose_key_it_is_says_nothing_of_who_shares_a_tag(ada, key):
    resource_id = make.resource(ada)

    response = tag(ada, resource_id, own(ada, is_shared=True), common(key, is_shared=False))

    found = {row["metadata_key_type"]: row["is_shared"] for row in response.body}
    assert found == {"user_key": True, "shared_key": False}


def test_a_tag_that_is_there_is_named_by_its_identifier(ada, key, store):
    first, second = make.resource(ada), make.resource(ada)
    [tag_id] = tagged(ada, first, own(ada)).values()

    assert [row["id"] for row in tag(ada, second, {"id": tag_id.upper()}).body] == [tag_id]
    tagged(ada, first)
    assert [row["id"] for row in index(ada)] == [tag_id]
    assert tagged(ada, second, "plain").keys() == {"plain"}
    assert [row.get("slug") for row in index(ada)] == ["plain"]


def test_with_an_identifier_other_members_say_nothing(ada, key):
    resource_id = make.resource(ada)
    [row] = tag(ada, resource_id, own(ada)).body

    [same] = tag(ada, resource_id, {**row, "metadata": 5, "is_shared": "nonsense"}).body

    assert same == row


@pytest.mark.parametrize("permission", [READ, UPDATE])
def test_only_owners_change_which_encrypted_tags_are_shared(ada, betty, key, permission):
    resource_id = make.resource(ada, {betty: permission})
    [tag_id] = tagged(ada, resource_id, common(key)).values()

    for sent in ([], [common(key)], [{"id": tag_id}, common(key)]):
        response = tag(betty, resource_id, *sent)
        assert (response.status, response.message) == (400, NO_SHARED)
    assert tag(betty, resource_id, {"id": tag_id}, own(betty)).status == 200


# Refusals of setting


def test_the_form_of_an_object(ada, betty, key):
    resource_id = make.resource(ada, {betty: READ})
    [foreign] = tagged(betty, resource_id, own(betty)).values()

    def refused(entry: Any) -> dict[str, list[str]]:
        response = tag(ada, resource_id, entry)
        assert (response.status, response.message) == (400, INVALID)
        return rules(response, 0)

    required = {name: ["_required"] for name in ("metadata", "metadata_key_type", "is_shared")}
    assert refused({}) == required
    assert refused(own(ada, metadata="")) == {"metadata": ["_empty"]}
    assert refused(own(ada, metadata="ü")) == {"metadata": ["ascii"]}
    assert refused(own(ada, metadata_key_id="x")) == {"metadata_key_id": ["uuid"]}
    for name in ("metadata_key_id", "metadata_key_type"):
        assert refused(own(ada, **{name: ""})) == {name: ["_empty"]}
    assert refused(own(ada, is_shared="x")) == {"is_shared": ["boolean"]}
    assert refused({"id": "x"}) == {"id": ["uuid", "tagExists"]}
    assert refused({"id": foreign}) == {"id": ["tagExists"]}
    assert refused({"id": new_id()}) == {"id": ["tagExists"]}
    [text] = tag(ada, resource_id, {"id": new_id()}).body[0]["id"].values()
    assert text == "The tag is missing or does not belong to current user."


def test_all_entries_are_told_what_is_wrong(ada, key):
    response = tag(ada, make.resource(ada), "fine", {"id": "x"}, 5)

    assert [*response.body] == ["1", "2"]


def test_what_cannot_be_stored(ada, key):
    resource_id = make.resource(ada)

    def refused(entry: Any) -> dict[str, list[str]]:
        response = tag(ada, resource_id, entry)
        assert (response.status, response.message) == (400, INVALID_TAGS)
        return rules(response, 0)

    assert refused(own(ada, metadata="nonsense")) == {"metadata": ["isMetadataParsable"]}
    for each in ("x", 5, ["user_key"]):
        assert refused(own(ada, metadata_key_type=each)) == {"metadata_key_type": ["inList"]}
    assert refused(own(ada, "x" * 8_000)) == {"metadata": ["maxLength"]}
    assert index(ada) == []


def test_keys_that_a_tag_may_not_be_for(ada, betty, key):
    resource_id = make.resource(ada)

    def refused(entry: Any) -> dict[str, list[str]]:
        response = tag(ada, resource_id, entry)
        assert (response.status, response.message) == (400, NOT_SAVED), response.json
        return rules(response, "tags", 0)

    no_key = {
        "metadata_key_id": ["metadata_key_exists", "isMetadataKeyNotExpired"],
        "metadata": ["isValidEncryptedMetadata"],
    }
    assert refused(own(ada, metadata_key_id=betty.gpgkey_id)) == no_key
    assert refused(common(key, metadata_key_id=new_id())) == no_key
    assert refused(common(key, metadata_key_id=None)) == no_key
    for_another = {"metadata": ["isValidEncryptedMetadata"]}
    assert refused(own(ada, metadata=message("x", betty.key.public))) == for_another
    second = shared(ada, number=2)
    assert refused(common(second)) == {"metadata_key_id": ["isSharedMetadataKeyUniqueActive"]}
    assert expire(ada, key).status == 200
    assert refused(common(key)) == {"metadata_key_id": ["isMetadataKeyNotExpired"]}
    ada.client.post(KEYS_SETTINGS, PERSONAL | {"allow_usage_of_personal_keys": False})
    assert refused(own(ada)) == {"metadata_key_type": ["isMetadataKeyTypeAllowedBySettings"]}
    assert index(ada) == []


def test_the_position_is_told_of_what_may_not_be_saved(ada, key):
    response = tag(ada, make.resource(ada), "fine", common(key, metadata_key_id=new_id()))

    assert [*response.body["tags"]] == ["1"]


def test_a_new_tag_is_in_one_format(ada, key, digest):
    resource_id = make.resource(ada)
    before = digest()

    for slug in ("work", ""):
        for v5 in (own(ada), {"metadata_key_type": "user_key", "is_shared": False}):
            response = tag(ada, resource_id, "fine", {"slug": slug, **v5})
            assert (response.status, response.message, response.body) == (400, BOTH, "")
    assert digest() == before
    assert tag(ada, resource_id, {"slug": None, **own(ada)}).status == 200


def test_with_an_identifier_a_slug_says_nothing(ada, key):
    resource_id = make.resource(ada)
    [row] = tag(ada, resource_id, own(ada)).body

    assert tag(ada, resource_id, {**row, "slug": "work"}).body == [row]


# Changing


def edit(who: Any, tag_id: str, body: Any) -> Response:
    return who.client.put(f"/tags/{tag_id}.json", body)


def test_a_slug_is_encrypted_and_put_in_clear_again(ada, key, store):
    resource_id = make.resource(ada)
    [tag_id] = tagged(ada, resource_id, "work").values()

    response = edit(ada, tag_id, common(key, "work", is_shared=False))

    assert (response.status, response.message) == (200, "The tag has been updated successfully.")
    assert {*response.body} == MEMBERS
    assert response.body["id"] == tag_id
    assert listed(ada, resource_id) == [response.body]
    assert uses(store) == {(key.id, tag_id)}
    [row] = listed(ada, resource_id)
    assert opened(key, row["metadata"]) == "work"
    after = rename(ada, tag_id, "job")
    assert after.body["id"] != tag_id
    assert slugs(ada, resource_id) == ["job"]
    assert uses(store) == {(CLEAR, after.body["id"])}


def test_what_settings_forbid_of_changing_the_format(ada, key):
    resource_id = make.resource(ada)
    ids = tagged(ada, resource_id, "work", own(ada))
    encrypted = next(id_ for slug, id_ in ids.items() if slug != "work")
    allow_v5_tags(ada, allow_v4_v5_upgrade=False, allow_v5_v4_downgrade=False)

    up, down = edit(ada, ids["work"], own(ada)), rename(ada, encrypted, "job")

    assert (up.status, up.message) == (400, "Unable to save the tag.")
    assert rules(up) == {"metadata": ["v4_to_v5_upgrade_allowed"]}
    expected = "The settings selected by your administrator prevent from downgrading tag."
    assert (down.status, down.message, down.body) == (400, expected, "")
    assert edit(ada, encrypted, own(ada, "again")).status == 200
    allow_v5_tags(ada, allow_creation_of_v5_tags=False)
    off = edit(ada, encrypted, own(ada))
    expected = "Tag creation/modification with encrypted metadata not allowed."
    assert (off.status, off.message, off.body) == (400, expected, "")


def test_all_that_is_wrong_with_metadata_is_told_where_upgrades_are_off(ada, betty, key):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()
    allow_v5_tags(ada, allow_v4_v5_upgrade=False)

    for sent, broken in (
        (message("x", betty.key.public), "isValidEncryptedMetadata"),
        ("nonsense", "isMetadataParsable"),
    ):
        response = edit(ada, tag_id, own(ada, metadata=sent))
        assert (response.status, response.message) == (400, "Unable to save the tag.")
        assert {*rules(response)["metadata"]} == {"v4_to_v5_upgrade_allowed", broken}


def test_what_is_wrong_with_new_metadata(ada, betty, key):
    [tag_id] = tagged(ada, make.resource(ada), own(ada)).values()
    without = {name: value for name, value in own(ada).items() if name != "is_shared"}

    def refused(body: Any) -> dict[str, list[str]]:
        response = edit(ada, tag_id, body)
        assert (response.status, response.message) == (400, "Unable to save the tag.")
        return rules(response)

    assert refused(without) == {"is_shared": ["_empty"]}
    for name in ("metadata_key_id", "metadata_key_type"):
        assert refused(own(ada, **{name: ""})) == {name: ["_empty"]}
    assert refused(own(ada, metadata="nonsense")) == {"metadata": ["isMetadataParsable"]}
    other = own(ada, metadata=message("x", betty.key.public))
    assert refused(other) == {"metadata": ["isValidEncryptedMetadata"]}


@pytest.mark.parametrize("slug", ["work", "job", ""])
def test_a_tag_is_changed_in_one_format(ada, key, digest, slug):
    ids = tagged(ada, make.resource(ada), "work", own(ada)).values()
    before = digest()

    for tag_id in ids:
        for v5 in (own(ada), {"metadata_key_type": "user_key"}):
            response = edit(ada, tag_id, {"slug": slug, **v5})
            assert (response.status, response.message, response.body) == (400, BOTH, "")
    assert digest() == before


def test_fields_of_the_other_format_may_be_null(ada, key):
    [tag_id] = tagged(ada, make.resource(ada), "work").values()

    no_metadata = dict.fromkeys(("metadata", "metadata_key_id", "metadata_key_type"))
    renamed = edit(ada, tag_id, {"slug": "job", **no_metadata})
    encrypted = edit(ada, renamed.body["id"], {"slug": None, **own(ada)})

    assert (renamed.status, renamed.body["slug"], encrypted.status) == (200, "job", 200)


def test_no_encrypted_tag_becomes_a_shared_one(ada, key):
    [tag_id] = tagged(ada, make.resource(ada), own(ada)).values()

    response = edit(ada, tag_id, common(key, is_shared=True))

    expected = "You do not have the permission to change a personal tag into shared tag."
    assert (response.status, response.message, response.body) == (400, expected, "")


# Keys that are used


def test_a_key_that_a_tag_uses_is_not_deleted(ada, betty, key):
    """I7"""
    resource_id = make.resource(ada)
    tagged(ada, resource_id, common(key))
    assert expire(ada, key).status == 200
    assert ada.client.delete(key.path).status == 400

    tagged(ada, resource_id)

    assert ada.client.delete(key.path).status == 200


def test_a_key_that_only_somebody_uses_who_is_deleted_is_deleted(ada, betty, key, store):
    """A process that died has committed their deletion, which takes their tags."""
    first, *_ = [make.resource(betty) for _ in range(110)]
    tagged(betty, first, described(key) | {"is_shared": False})
    assert expire(ada, key).status == 200
    after_commit(lambda: ada.client.delete(f"/users/{betty.id}.json"))
    assert ada.client.get("/metadata/rotate-key/tags.json").body == []

    assert ada.client.delete(key.path).status == 200

    check_invariants(store)


# Rotation


def entry(row: Any, key: SharedKey, text: str = "secret") -> dict[str, Any]:
    return {"id": row["id"], **described(key, text)}


def test_tags_on_an_expired_key_are_rotated(ada, betty, key, store):
    mine, theirs = make.resource(ada), make.resource(betty)
    [shared_tag] = tag(ada, mine, common(key, "ours")).body
    rows = tag(betty, theirs, common(key, "hers", is_shared=False), own(betty), "plain").body
    [personal] = [row for row in rows if row.get("metadata_key_id") == key.id]
    assert ada.client.get(ROTATE).body == []
    second = shared(ada, betty, number=2)
    assert expire(ada, key).status == 200

    response = ada.client.get(ROTATE)

    assert response.body == sorted([shared_tag, personal], key=lambda row: row["id"])
    assert response.json["header"]["pagination"] == {"count": 2, "page": 1, "limit": 20}
    entries = [entry(row, second, opened(key, row["metadata"])) for row in response.body]
    first = ada.client.post(ROTATE, entries[:1])
    assert (first.status, [row["id"] for row in first.body]) == (200, [entries[1]["id"]])
    assert ada.client.post(ROTATE, entries[1:]).body == []
    [after] = listed(ada, mine)
    assert opened(second, after["metadata"]) == "ours"
    assert uses(store) >= {(second.id, shared_tag["id"]), (second.id, personal["id"])}
    assert ada.client.delete(key.path).status == 200


def test_refusals_of_a_rotation(ada, betty, key):
    resource_id = make.resource(ada)
    [row] = tag(ada, resource_id, common(key)).body
    [plain] = tagged(ada, make.resource(ada), "plain").values()
    second = shared(ada, betty, number=2)
    missing = f"The tag with the id {row['id']} does not exist."
    not_yet = ada.client.post(ROTATE, [entry(row, second)])
    assert (not_yet.status, not_yet.message) == (404, missing)
    several = {"metadata_key_id": ["isSharedMetadataKeyUniqueActive"]}
    assert expire(ada, key).status == 200

    def refused(*entries: Any) -> Response:
        response = ada.client.post(ROTATE, list(entries))
        assert response.status >= 400
        assert [each["id"] for each in ada.client.get(ROTATE).body] == [row["id"]]
        return response

    assert betty.client.get(ROTATE).status == betty.client.post(ROTATE, []).status == 403
    assert (refused().status, refused().message) == (400, "The request should not be empty.")
    assert refused({"id": "x"}).status == refused({**entry(row, second), "id": None}).status == 400
    assert refused({**entry(row, second), "id": new_id()}).status == 404
    assert refused({**entry(row, second), "id": plain}).status == 404
    assert rules(refused({"id": row["id"]}), 0).keys() == {
        *("metadata", "metadata_key_id", "metadata_key_type")
    }
    wrong_kind = {**entry(row, second), "metadata_key_type": "user_key"}
    assert rules(refused(wrong_kind), 0) == {"metadata_key_type": ["is_not_shared_key"]}
    bad = refused({**entry(row, second), "metadata": "nonsense"})
    assert bad.message == "The tag metadata could not be updated."
    assert rules(bad, 0) == {"metadata": ["isMetadataParsable"]}
    on_expired = {"metadata_key_id": ["isMetadataKeyNotExpired"]}
    assert rules(refused(entry(row, key)), 0) == on_expired
    assert refused(entry(row, second), entry(row, second)).status == 409
    third = shared(ada, number=3)
    assert rules(refused(entry(row, third)), 0) == several


def test_a_batch_is_written_whole_or_not_at_all(ada, key):
    resource_id = make.resource(ada)
    first, second = tag(ada, resource_id, common(key, "one"), common(key, "two")).body
    next_key = shared(ada, number=2)
    assert expire(ada, key).status == 200
    wrong = {**entry(second, next_key), "metadata": message("x", ada.key.public)}

    response = ada.client.post(ROTATE, [entry(first, next_key), wrong])

    assert (response.status, rules(response, "1")) == (
        400,
        {"metadata": ["isValidEncryptedMetadata"]},
    )
    assert len(ada.client.get(ROTATE).body) == 2


# Upgrades


def test_tags_in_clear_are_upgraded(ada, betty, store):
    key = shared(ada, betty)
    resource_id = make.resource(betty)
    ids = tagged(betty, resource_id, "hers", "#ours")

    rows = ada.client.get(UPGRADE).body

    by_slug = {row["slug"]: row for row in rows}
    assert [row["id"] for row in rows] == sorted(ids.values())
    assert by_slug["hers"] == {
        "id": ids["hers"],
        "slug": "hers",
        "is_shared": False,
        "user_id": betty.id,
    }
    assert by_slug["#ours"]["user_id"] is None
    for value, slug in (("0", "hers"), ("1", "#ours")):
        found = ada.client.get(f"{UPGRADE}?filter[is-shared]={value}").body
        assert [row["slug"] for row in found] == [slug]
    hers = {"id": ids["hers"], **metadata(betty, "hers")}
    first = ada.client.post(UPGRADE, [hers])
    assert (first.status, [row["slug"] for row in first.body]) == (200, ["#ours"])
    assert ada.client.post(UPGRADE, [entry({"id": ids["#ours"]}, key, "ours")]).body == []
    assert {row["id"] for row in listed(betty, resource_id)} == {*ids.values()}
    assert uses(store) == {(key.id, ids["#ours"])}
    again = ada.client.post(UPGRADE, [hers])
    assert again.status == 404


def test_tags_in_clear_are_no_folders(ada):
    """Both are noted in one place."""
    tagged(ada, make.resource(ada), "work")

    assert ada.client.get("/metadata/upgrade/folders.json").body == []


def test_refusals_of_an_upgrade(ada, betty):
    shared(ada, betty)
    [tag_id] = tagged(betty, make.resource(betty), "hers").values()

    def refused(body: Any) -> dict[str, list[str]]:
        response = ada.client.post(UPGRADE, [body])
        assert response.status == 400
        assert len(ada.client.get(UPGRADE).body) == 1
        return rules(response, 0)

    assert betty.client.get(UPGRADE).status == betty.client.post(UPGRADE, []).status == 403
    unnamed = {"id": tag_id, **metadata(betty), "metadata_key_id": None}
    assert refused(unnamed) == {"metadata_key_id": ["_empty"]}
    nonsense = {"id": tag_id, **metadata(betty), "metadata": "nonsense"}
    assert refused(nonsense) == {"metadata": ["isMetadataParsable"]}
    for_admin = refused({"id": tag_id, **metadata(ada)})
    assert for_admin["metadata_key_id"] == ["metadata_key_exists", "isMetadataKeyNotExpired"]


def test_tags_without_links_are_left_out(ada):
    resource_id = make.resource(ada)
    tagged(ada, resource_id, "work")
    tagged(ada, resource_id)

    assert ada.client.get(UPGRADE).body == []


def test_a_whole_page_is_one_batch(ada, betty):
    key = shared(ada, betty)
    resource_id = make.resource(betty)
    tagged(betty, resource_id, *(f"#{number}" for number in range(23)))
    page = ada.client.get(UPGRADE)
    assert page.json["header"]["pagination"]["count"] == 23

    after = ada.client.post(UPGRADE, [entry(row, key) for row in page.body])

    assert (after.status, len(after.body)) == (200, 3)


def test_a_batch_beyond_a_transaction_is_refused(ada, betty):
    key = shared(ada, betty)
    resource_id = make.resource(betty)
    ids = tagged(betty, resource_id, *(f"#{number}" for number in range(40)))

    response = ada.client.post(UPGRADE, [entry({"id": id_}, key) for id_ in ids.values()])

    expected = "This is too much for one request; please send it in several."
    assert (response.status, response.message) == (400, expected)
    assert ada.client.get(path(resource_id)).status == 404
