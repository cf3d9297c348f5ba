"""Who is told of what by mail: HD08 HD09 HD10, P7."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.domain import clock
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.storage.base import timestamp_text
from tests.support import relays
from tests.support.company import settings as directory
from tests.support.company import shared
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import groups, make, people, scim
from tests.support.world.items import expiry, metadata, resources
from tests.support.world.keys import KEYS
from tests.support.world.operator.posted import posted, told

READ, UPDATE, OWNER = PermissionType.READ, PermissionType.UPDATE, PermissionType.OWNER


@pytest.fixture
def carol(store):
    return make.user("carol")


# Resources, folders, comments


def test_everybody_with_access_is_told_of_an_update_the_actor_included(store, ada, betty, carol):
    team = make.group(carol)
    item = make.resource(ada, {betty: UPDATE, team: READ})
    betty.client.put(resources.path(item), {"name": "mail 2"})

    mails = posted(store)
    assert [(each.who, each.template) for each in mails] == [
        (who, "resource-updated") for who in ("ada", "betty", "carol")
    ]
    assert mails[0].subject == "Betty Lovelace changed mail 2"
    assert mails[1].subject == "You changed mail 2"
    assert f"/app/passwords/view/{item}" in mails[0].text


def test_what_is_marked_as_expired_is_told_as_an_update_and_to_owners_as_expired(store, ada, betty):
    item = make.resource(ada, {betty: UPDATE})
    assert expiry.marked(betty, item).status == 200

    assert told(store) == [
        ("ada", "expired-by-user"),
        ("ada", "resource-updated"),
        ("betty", "resource-updated"),
    ]


def test_of_encrypted_metadata_no_name_is_told(store, ada, betty):
    item = make.resource(ada, {betty: READ}, metadata="-----BEGIN PGP MESSAGE-----")
    ada.client.delete(resources.path(item))

    [mail] = posted(store)
    assert mail.subject == "Ada Lovelace deleted a password"
    assert "PGP" not in mail.text + mail.html


def test_all_but_the_actor_are_told_of_a_deletion(store, ada, betty, carol):
    item = make.resource(ada, {betty: READ, make.group(carol, ada): READ})
    ada.client.delete(resources.path(item))

    assert told(store) == [("betty", "resource-deleted"), ("carol", "resource-deleted")]


def test_who_gains_a_secret_is_told_of_a_share_and_nobody_else(store, ada, betty, carol):
    item = make.resource(ada, {betty: READ})
    permission = {"aro": "User", "aro_foreign_key": carol.id, "type": 1}
    permission |= {"aco": "Resource", "aco_foreign_key": item}
    sent = {"permissions": [permission], "secrets": [groups.secret(carol, item)]}
    assert ada.client.put(f"/share/resource/{item}.json", sent).status == 200

    [mail] = posted(store)
    assert (mail.who, mail.subject) == ("carol", "Ada Lovelace shared mail with you")


def test_all_who_had_a_folder_are_told_of_its_change_and_its_end(store, ada, betty):
    folder = make.folder(ada, {betty: READ})
    ada.client.put(f"/folders/{folder}.json", {"name": "other"})
    assert told(store) == [("ada", "folder-updated"), ("betty", "folder-updated")]
    ada.client.delete(f"/folders/{folder}.json")

    assert told(store) == [("ada", "folder-deleted"), ("betty", "folder-deleted")]


def test_who_gains_a_folder_is_told(store, ada, betty):
    folder = make.folder(ada)
    permission = {"aro": "User", "aro_foreign_key": betty.id, "type": 1}
    permission |= {"aco": "Folder", "aco_foreign_key": folder}
    ada.client.put(f"/share/folder/{folder}.json", {"permissions": [permission]})

    assert told(store) == [("betty", "folder-shared")]


def test_a_comment_is_told_to_all_but_its_author(store, ada, betty, carol):
    item = make.resource(ada, {betty: READ, carol: READ})
    betty.client.post(f"/comments/resource/{item}.json", {"content": "a secret thought"})

    mails = posted(store)
    assert [each.who for each in mails] == ["ada", "carol"]
    assert not any("thought" in each.text + each.html for each in mails)


# Groups


def test_a_new_group_is_told_to_its_members_but_for_who_made_it(store, ada, betty, carol):
    groups.created(ada, ada, betty, carol)

    assert told(store) == [("betty", "group-added"), ("carol", "group-added")]


def test_a_change_of_members_is_told_to_them_and_to_the_other_managers(store, ada, betty, carol):
    dave, edith = make.user("dave"), make.user("edith")
    team = make.group(betty, carol, dave, managers=2, name="team")
    changes = [groups.add(edith), groups.promote(team, dave)]
    assert groups.update(betty, team, *changes).status == 200

    mails = posted(store)
    assert [(each.who, each.template) for each in mails] == [
        ("carol", "group-members-changed"),
        ("dave", "group-role-changed"),
        ("edith", "group-added"),
    ]
    assert "Added: Edith Lovelace" in mails[0].text
    assert "With another role: Dave Lovelace" in mails[0].text
    assert "a manager" in mails[1].text


def test_who_removes_themselves_is_told_and_a_new_name_is_told_to_nobody(store, ada, betty, carol):
    team = make.group(betty, carol, managers=2)
    groups.update(ada, team, name="another")
    assert told(store) == []
    groups.update(betty, team, groups.remove(team, betty))

    mails = posted(store)
    assert [(each.who, each.template) for each in mails] == [
        ("betty", "group-left"),
        ("carol", "group-members-changed"),
    ]
    assert mails[0].subject.startswith("You removed you")


def test_who_leaves_a_group_is_told_the_name_it_had_and_who_stays_the_new_one(
    store, ada, betty, carol
):
    """By a request that does both: the new name is of a group that they never belonged to."""
    team = make.group(betty, carol, name="Sales")
    groups.update(ada, team, groups.remove(team, carol), name="Takeover")

    mails = posted(store)
    assert [(each.who, each.subject) for each in mails] == [
        ("betty", "Ada Lovelace changed the members of the group Takeover"),
        ("carol", "Ada Lovelace removed you from the group Sales"),
    ]
    assert "Takeover" not in mails[1].text


def test_the_end_of_a_group_is_told_to_its_members_but_for_the_actor(store, ada, betty, carol):
    team = make.group(betty, carol, ada)
    ada.client.delete(groups.path(team))

    assert told(store) == [("betty", "group-deleted"), ("carol", "group-deleted")]


# Accounts


def test_a_completed_setup_is_told_to_administrators(store, ada, betty, api):
    dave = people.invite(store, ada)
    posted(store)
    proof = {"authentication_token": {"token": dave.token}}
    proof["gpgkey"] = {"armored_key": KEYS["dave"].public}
    assert api.post(f"/setup/complete/{dave.id}.json", proof).status == 200

    assert told(store) == [("ada", "setup-completed")]


def test_an_aborted_recovery_is_told_to_administrators(store, ada, betty, api):
    people.recover(api, username="betty@example.com", case="lost-passphrase")
    [link] = people.mails(store)
    body = {"authentication_token": {"token": people.token_of(link)}}
    posted(store)
    api.put(f"/setup/recover/abort/{betty.id}.json", body, **CSRF_PAIR)

    [mail] = posted(store)
    assert (mail.who, mail.subject) == ("ada", "Betty Lovelace cannot recover their account")


def test_a_suspension_is_told_to_administrators_and_to_one_who_was_one(store, ada, betty):
    zoe = make.user("carol", admin=True)
    now = timestamp_text(clock.now())
    ada.client.put(f"/users/{betty.id}.json", {"id": betty.id, "disabled": now})
    assert told(store) == [("ada", "user-suspended"), ("carol", "user-suspended")]
    ada.client.put(f"/users/{zoe.id}.json", {"id": zoe.id, "disabled": now})

    assert told(store) == [("ada", "user-suspended"), ("carol", "suspended")]


def suspend(by, who, at):
    assert by.client.put(f"/users/{who.id}.json", {"disabled": timestamp_text(at)}).status == 200


def test_a_suspension_that_begins_later_is_told_when_it_is_set_and_not_once_it_counts(
    store, ada, betty, time
):
    suspend(ada, betty, clock.now() + timedelta(seconds=3))
    assert told(store) == [("ada", "user-suspended")]

    time.pass_by(seconds=3)
    suspend(ada, betty, clock.now())
    assert told(store) == []


def test_each_date_of_a_suspension_is_told(store, ada, betty):
    for days in (30, 20, 40):
        later = clock.now() + timedelta(days=days)
        suspend(ada, betty, later)
        [mail] = posted(store)
        assert mail.subject == f"You suspended Betty Lovelace from {later:%Y-%m-%d %H:%M} UTC on"
        assert f"will not be able to sign in from {later:%Y-%m-%d %H:%M} UTC on. " in mail.text

    suspend(ada, betty, clock.now())
    [mail] = posted(store)
    assert mail.subject == "You suspended Betty Lovelace"
    assert "who cannot sign in any more" in mail.text


def test_a_suspension_by_a_clock_that_is_ahead_is_told_as_one_of_now(store, ada, betty):
    suspend(ada, betty, clock.now() + timedelta(minutes=4))
    [mail] = posted(store)
    assert "who cannot sign in any more" in mail.text


def test_an_administrator_whose_suspension_begins_later_is_told(store, ada):
    carol = make.user("carol", admin=True)
    later = clock.now() + timedelta(days=30)
    suspend(ada, carol, later)

    [_, mail] = posted(store)
    assert (mail.who, mail.template) == ("carol", "suspended")
    assert mail.subject == "Your account on Keyhaven will be suspended"
    assert f"you will not be able to sign in from {later:%Y-%m-%d %H:%M} UTC on.\n" in mail.text


def test_another_role_is_told_to_its_user_and_lost_powers_to_administrators(store, ada):
    carol = make.user("carol", admin=True)
    sent = {"id": carol.id, "role_id": roles.USER.id}
    browser = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64) https://evil.example/"}
    ada.client.put(f"/users/{carol.id}.json", sent, headers=browser)

    mails = posted(store)
    assert [(each.who, each.template) for each in mails] == [
        ("ada", "administrator-revoked"),
        ("carol", "role-changed"),
    ]
    assert mails[0].subject == "You took the role of an administrator from Carol Lovelace"
    assert "127.0.0.1" in mails[0].text
    assert "Mozilla 5. 0 (X11 Linux x86_64) https evil. example" in mails[0].text


def test_who_loses_powers_and_account_in_one_request_is_told(store, ada):
    carol = make.user("carol", admin=True)
    sent = {"role_id": roles.USER.id, "disabled": clock.now().isoformat()}
    assert ada.client.put(f"/users/{carol.id}.json", sent).status == 200

    assert [(each.who, each.template) for each in posted(store)] == [
        ("ada", "administrator-revoked"),
        ("ada", "user-suspended"),
        ("carol", "suspended"),
    ]


def test_a_deletion_is_told_to_managers_and_of_an_administrator_to_administrators(
    store, ada, betty
):
    carol, dave = make.user("carol", admin=True), make.user("dave", admin=True)
    make.group(betty, carol, name="Operations")
    make.group(betty, ada, carol, managers=2, name="Sales")
    make.group(carol, name="Alone")
    assert ada.client.delete(f"/users/{carol.id}.json").status == 200

    mails = posted(store)
    assert [(each.who, each.template) for each in mails] == [
        ("ada", "user-deleted"),
        ("betty", "user-deleted"),
        ("dave", "administrator-deleted"),
    ]
    assert dave.user.is_admin
    assert "Operations, Sales" in mails[1].text
    assert "Operations" not in mails[0].text
    assert not any("Alone" in each.text for each in mails)


def test_administrators_are_told_of_a_deletion_where_managers_are_not(store, ada, betty):
    carol = make.user("carol", admin=True)
    make.group(betty, ada, carol, managers=2, name="Sales")
    switches = {"send_group_user_delete": False}
    assert ada.client.post("/settings/emails/notifications.json", switches).status == 200
    assert ada.client.delete(f"/users/{carol.id}.json").status == 200

    assert told(store) == [("ada", "administrator-deleted")]


def test_roles_are_told_to_the_other_administrators(store, ada):
    make.user("carol", admin=True)
    role = make.role(ada, "auditor")
    ada.client.put(f"/roles/{role}.json", {"name": "checker"})

    mails = posted(store)
    assert [(each.who, each.subject) for each in mails] == [
        ("carol", "Ada Lovelace created the role auditor"),
        ("carol", "Ada Lovelace renamed the role auditor"),
    ]
    assert "checker" in mails[1].text


# The organisation


@pytest.mark.parametrize(
    ("path", "body", "template"),
    [
        (
            "/user-passphrase-policies/settings.json",
            {"entropy_minimum": 80, "external_dictionary_check": True},
            "passphrase-policies-saved",
        ),
        (
            "/mfa-policies/settings.json",
            {"policy": "opt-in", "remember_me_for_a_month": False},
            "mfa-policies-saved",
        ),
    ],
)
def test_policies_are_told_to_all_administrators(store, ada, betty, path, body, template):
    make.user("carol", admin=True)
    assert ada.client.post(path, body).status == 200

    assert told(store) == [("ada", template), ("carol", template)]


def test_the_expiry_of_passwords_is_told_when_it_is_changed_and_when_it_ends(store, ada, betty):
    setting = expiry.turned_on(ada)
    [changed] = posted(store)
    ada.client.delete(f"{expiry.PATH.removesuffix('.json')}/{setting['id']}.json")
    [ended] = posted(store)

    assert [(each.who, each.template) for each in (changed, ended)] == [
        ("ada", "password-expiry-saved"),
        ("ada", "password-expiry-saved"),
    ]
    assert "you changed when passwords expire" in changed.text
    assert "you turned the expiry of passwords off" in ended.text


def test_provisioning_is_told_when_it_is_changed_and_when_it_ends(store, ada, betty):
    setting = scim.settled(ada)
    [changed] = posted(store)
    body = {"scim_user_id": ada.id, "secret_token": scim.OTHER_TOKEN}
    ada.client.put(f"/scim/settings/{setting}.json", body)
    [exchanged] = posted(store)
    ada.client.delete(f"/scim/settings/{setting}.json")
    [ended] = posted(store)

    mails = (changed, exchanged, ended)
    assert {(each.who, each.template) for each in mails} == {("ada", "scim-settings-saved")}
    assert [each.subject.rpartition(" ")[2] for each in mails] == ["changed", "changed", "deleted"]
    assert not any(scim.TOKEN in str(each) or scim.OTHER_TOKEN in str(each) for each in mails)


def test_a_directory_is_told_when_it_is_changed_and_when_it_ends(store, ada, betty):
    directory.saved(ada, shared.company())
    [changed] = posted(store)
    ada.client.delete(directory.SETTINGS)
    [ended] = posted(store)

    mails = (changed, ended)
    assert {(each.who, each.template) for each in mails} == {("ada", "directory-settings-saved")}
    assert [each.subject.rpartition(" ")[2] for each in mails] == ["changed", "off"]


def test_a_mail_server_is_told_when_it_is_named_and_when_it_is_given_up(store, ada, betty):
    ada.client.post("/smtp/settings.json", relays.shared().form())
    [changed] = posted(store)
    ada.client.delete("/smtp/settings.json")
    [ended] = posted(store)

    mails = (changed, ended)
    assert {(each.who, each.template) for each in mails} == {("ada", "smtp-settings-saved")}
    assert [each.subject.rpartition(" ")[2] for each in mails] == ["changed", "removed"]
    assert relays.PASSWORD not in str(mails)


@pytest.mark.parametrize(
    ("path", "body"),
    [(metadata.KEYS_SETTINGS, metadata.PERSONAL), (metadata.TYPES_SETTINGS, metadata.TYPES)],
)
def test_settings_of_metadata_are_told_to_all_administrators_from_the_first(
    store, ada, betty, path, body
):
    make.user("carol", admin=True)
    for _ in range(2):
        assert ada.client.post(path, body).status == 200

        saved = "metadata-settings-saved"
        assert told(store) == [("ada", saved), ("carol", saved)]


def test_metadata_keys_are_told_to_all_administrators_from_the_first(store, ada, betty):
    make.user("carol", admin=True)
    for number in (1, 2):
        metadata.shared(ada, number=number)

        created = "metadata-key-created"
        assert told(store) == [("ada", created), ("carol", created)]


def test_an_administrator_who_is_alone_is_told_of_metadata_once_it_is_set_up(store, ada):
    def saved():
        assert ada.client.post(metadata.KEYS_SETTINGS, metadata.PERSONAL).status == 200
        metadata.allow_v5(ada)

    metadata.shared(ada)
    saved()
    assert told(store) == []

    metadata.shared(ada, number=2)
    saved()
    assert {each.template for each in posted(store)} == {
        "metadata-key-created",
        "metadata-settings-saved",
    }


def test_people_read_their_language_else_the_organisation_s_else_english(store, ada, betty):
    carol, dave = make.user("carol"), make.user("dave")
    assert ada.client.post("/locale/settings.json", {"value": "de-DE"}).status == 200
    people.change(betty.id, locale="fr-FR")
    people.change(dave.id, locale="ja-JP")
    item = make.resource(ada, dict.fromkeys((betty, carol, dave), READ), name="mail")
    ada.client.delete(resources.path(item))

    assert {each.who: each.subject for each in posted(store)} == {
        "betty": "Ada Lovelace a supprimé mail",
        "carol": "Ada Lovelace hat mail gelöscht",
        "dave": "Ada Lovelace deleted mail",
    }


def test_a_refused_request_tells_nobody(store, ada, betty):
    item = make.resource(ada, {betty: READ})
    assert betty.client.put(resources.path(item), {"name": "mine"}).status == 403
    assert betty.client.delete(resources.path(item)).status == 403

    assert people.mails(store) == []
