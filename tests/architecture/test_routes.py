"""What every route declares: who may call it, and the action that answers and logs name."""

from __future__ import annotations

import re
from uuid import uuid5

import pytest

from chalicelib.domain.actor import Access
from chalicelib.domain.ids import NAMESPACE, named_id
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.envelope import UNKNOWN_ACTION
from chalicelib.web.route import Route
from infra.endpoints import every_endpoint
from tests.support.wire.endpoints import ROUTES, has_body, over

ACTIONS = {
    "Error.error": "17b8a54b-8069-586a-8ca2-7e7569b28e08",
    "AuthLogin.loginPost": "a3c19ad2-8920-5395-86d0-8567cb34f382",
    "AuthLogin.loginGet": "11ed2b2c-9ade-50b3-9bbb-68232d5dc5d7",
    "AuthVerify.verifyGet": "748dcd10-7d15-5498-9aa6-d26de348ff02",
    "AuthIsAuthenticated.isAuthenticated": "4d2d5c43-a76a-5d4a-8f47-2b1f0268e3d6",
    "AuthLogout.logout": "19f9a792-3495-597b-bc94-dff1bc3e3967",
    "JwtLogin.loginPost": "28c0972b-e6a2-5d44-a5cb-bc2d11799cc1",
    "RefreshToken.refreshPost": "d6e2cf35-4c84-570f-bc3f-aaa490a9de61",
    "JwtLogout.logoutPost": "4d1317e5-a5c6-5545-b2dc-5eb866c64b1b",
    "Jwks.rsa": "2a80ca92-0e47-5780-b338-3568f3cff69e",
    "Jwks.jwks": "fc6ddb48-09f3-5618-80b6-9402226f15de",
    "AvatarsView.view": "97e2d767-191c-5226-94a2-3d00bec4dc9a",
    "GpgkeysIndex.index": "a8b75aae-cb86-5fda-a8b3-d36ae6155023",
    "GpgkeysView.view": "f07aa7d7-410d-5c49-bd11-407788f0e1b4",
    "ThemesIndex.index": "058f384b-6685-55ac-8e82-9b0579a4e210",
    "ThemesSelect.select": "bbcc91fb-c9fe-5a24-aaf6-0d36b61f9559",
    "OrganizationLocalesSelect.select": "2c50bb0d-c13b-517c-9930-ad29fcbc7d81",
    "PasswordPoliciesSettingsGet.get": "72a35b3d-5baf-57cd-b6ba-a946bd879ad4",
    "ExportPoliciesSettingsGet.get": "4dc48e44-e318-5c6d-8dac-a9f6e96b0c76",
    "UserKeyPoliciesGetSettings.get": "87d717de-7f19-5f3b-88cd-97bcaf26e8fa",
    "HealthcheckIndex.index": "08903e2d-1cb6-5908-8dbc-25b7a54e6bc4",
    "HealthcheckStatus.status": "f52ecf6c-8e82-5f3d-ab73-f6df46eb71b5",
    "RolesIndex.index": "30237a18-fd12-5935-b1be-1e2a62ccb71d",
    "RolesAdd.add": "861c3a6f-ede7-517a-8ba5-823bdbd29303",
    "RolesUpdate.update": "3fff0323-9ce7-5d4e-b784-e9b42ef34012",
    "RolesDelete.delete": "7aadfab6-2e2c-5c47-9e25-52c8d8cc79dc",
    "UsersIndex.index": "d7bc9044-a64e-5421-a4d7-7a94eaa39d37",
    "UsersAdd.addPost": "a1a15b91-72f6-5708-8d7f-6940e51d8595",
    "UsersView.view": "881ab948-e40f-5a72-91aa-54b442270029",
    "UsersEdit.editPost": "defacfb8-ce1b-50f1-9b7d-d9865d2f28bd",
    "UsersDelete.delete": "4a1f3ff7-02ff-5120-b08b-e13f4369df3f",
    "UsersDelete.dryrun": "bec65e6e-9c29-5217-aabc-49fe2256cfce",
    "GetCsrfToken.get": "caea12fd-e0f8-5d68-aa19-d7b25119740e",
    "UsersRegister.registerPost": "9607a52c-ef4c-50b2-bcc2-90440d67bc42",
    "UsersRecover.recoverPost": "1c717cd7-d236-55c4-a068-b9a0923b1927",
    "SetupStart.start": "50ca4a19-b782-5842-bd2b-f59e9ff4eef9",
    "SetupComplete.complete": "6f53faec-0c9e-5321-ac78-543e1001f7b1",
    "RecoverStart.start": "601d4672-5498-5681-b0af-5c4908a49e91",
    "RecoverComplete.complete": "91b261cd-7e30-5678-98f5-9faacea29439",
    "RecoverAbort.abort": "39a6e514-8f89-58e5-a11c-598c44e93ed8",
    "SelfRegistrationGetSettings.getSettings": "d4df7df1-0645-5d2e-b5e3-0cf44ec3d8e7",
    "SelfRegistrationSetSettings.setSettings": "d6f1660a-6ff2-5572-ab3e-92c68e82b5d4",
    "SelfRegistrationDeleteSettings.deleteSettings": "aaed8b04-603c-58bd-b054-34f9e78c4716",
    "SelfRegistrationDryRun.dryRun": "8fa02019-e0f1-5de9-a680-7a2601caf27c",
    "SettingsIndex.index": "bef9f3ca-86ef-5c6a-9b38-320e03ceb5df",
    "MfaVerifyAjaxError.get": "af9aa2c6-7355-514d-a4a0-3e74de4c0fdb",
    "TotpVerifyGet.get": "afd95c6c-2122-5818-ab09-d2e3a087e79d",
    "TotpVerifyPost.post": "dfe03bf2-c4e2-524f-bcbf-9defa9949e24",
    "TotpSetupGet.get": "69894f9f-5349-5289-ba93-8fb002ac0963",
    "TotpSetupPost.post": "cbf6254c-3536-593f-a899-f73f4acb233f",
    "TotpSetupDelete.delete": "e2b18ccb-9171-5084-9ac9-899f7161d356",
    "MfaSetupSelectProvider.get": "30259dec-c224-509d-b742-96e2a6a85475",
    "MfaUserSettingsDelete.delete": "2830cbaf-5786-5121-8335-7a8567c6eb16",
    "MfaOrgSettingsGet.get": "6d616537-c449-589d-bebe-b2d5883e9d35",
    "MfaOrgSettingsPost.post": "5b83da52-4938-5bb5-ab18-3433022554d6",
    "AccountSettingsIndex.index": "9b473b19-0e3e-5efb-be19-8a1719843762",
    "AccountLocalesSelect.select": "66c8c07c-8079-55ae-8e0a-bca281f94909",
    "PasswordExpirySettingsGet.get": "6729d30a-1efa-53a4-8c03-e7542b2fedbe",
    "PasswordExpirySettingsSet.post": "3e1763d3-a38e-554d-81b1-61e2e5e50cd9",
    "PasswordExpirySettingsDelete.delete": "5988c8bb-12d6-58c8-9419-acf54dc82e2f",
    "RbacsIndex.index": "4f7dc567-b5aa-5226-bd33-740d11f451ea",
    "RbacsView.viewForCurrentRole": "a04f2607-8cb6-56c6-a9cb-6b9c7603bacd",
    "RbacsUpdate.update": "b08abb41-3396-5202-b69f-a86eb6a1d1c0",
    "UiActionsIndex.index": "5cc031bc-8072-588c-abc4-c33908100f43",
    "TransfersCreate.create": "e31bf700-cd7a-5163-8cf4-03f11eb7365a",
    "TransfersView.view": "94c6e76f-9fd8-51bd-8e0c-2bfd1864d139",
    "TransfersUpdate.update": "49603944-6dee-5379-aa0a-b6c72d26eb40",
    "TransfersUpdate.updateNoSession": "9a8e700b-a6e6-5641-8ae2-5c129fa7690b",
    "ResourcesAdd.add": "ad8bbc35-6435-538e-b1a7-80b87bcedb6a",
    "GroupsAdd.addPost": "5bd4ecae-da08-577d-ac32-ce7b13bd7b0f",
    "GroupsUpdate.update": "3303ccc6-778b-55b7-b06e-0c06d756217d",
    "MetadataKeysIndex.index": "e38db0b5-838d-5f43-8609-92a25843e9d3",
}
"""Identifiers the catalogue lists. Logs of other servers know actions by them."""
NAMED_WITHOUT_ID = {
    *("GroupsDelete.delete", "GroupsDelete.dryRun"),
    *("ResourcesIndex.index", "ResourcesView.view", "ResourcesUpdate.update"),
    *("ResourcesDelete.delete", "SecretsView.view", "ResourceTypesIndex.index"),
    *("PermissionsView.viewAcoPermissions", "ShareSearch.searchArosToShareWith"),
    *("Share.dryRun", "Share.share"),
    *("ResourceTypesView.view", "ResourceTypesUpdate.update", "ResourceTypesDelete.delete"),
    *("CommentsView.view", "CommentsAdd.addPost", "CommentsUpdate.update"),
    *("GroupsIndex.index", "GroupsView.view", "GroupsUpdate.dryRun"),
    *("FoldersIndex.index", "FoldersCreate.create", "FoldersView.view", "FoldersUpdate.update"),
    *("FoldersDelete.delete", "FoldersRelationsMove.move", "FoldersShare.share"),
    *("CommentsDelete.delete", "FavoritesAdd.add", "FavoritesDelete.delete"),
    *("MetadataTypesSettingsGet.get", "MetadataTypesSettingsPost.post"),
    *("MetadataKeysSettingsGet.get", "MetadataKeysSettingsPost.post"),
    *("MetadataKeyCreate.create", "MetadataKeyUpdate.update", "MetadataKeyDelete.delete"),
    *("MetadataPrivateKeysCreate.create", "MetadataPrivateKeysUpdate.update"),
    *("MetadataMissingPrivateKeysShare.share", "MetadataSettingsSetup.get"),
    *("MetadataSettingsGetStarted.get", "MetadataRotateKeyResourcesIndex.index"),
    *("MetadataRotateKeyFoldersIndex.index", "MetadataRotateKeyResourcesPost.post"),
    *("MetadataRotateKeyFoldersPost.post", "MetadataUpgradeResourcesIndex.index"),
    *("MetadataUpgradeFoldersIndex.index", "MetadataUpgradeResourcesPost.post"),
    *("MetadataSessionKeysGet.get", "MetadataSessionKeyCreate.create"),
    *("MetadataSessionKeyUpdate.update", "MetadataSessionKeyDelete.delete"),
    *("SecretRevisionsResourceGet.get", "PasswordPoliciesUpdateSetSettings.post"),
    *("UserPassphrasePoliciesGetSettings.get", "UserPassphrasePoliciesSetSettings.post"),
    *("SecretRevisionsSettingsGet.get", "SecretRevisionsSettingsPost.post"),
    *("SecretRevisionsSettingsDelete.delete",),
    *("MetadataUpgradeFoldersPost.post", "TagsIndex.index", "ResourcesTagsAdd.addPost"),
    *("TagsUpdate.update", "TagsDelete.delete", "MetadataRotateKeyTagsIndex.index"),
    *("MetadataRotateKeyTagsPost.post", "MetadataUpgradeTagsIndex.index"),
    *("MetadataUpgradeTagsPost.post",),
    *("NotificationOrgSettingsGet.get", "NotificationOrgSettingsPost.post"),
    *("MfaPoliciesSettingsGet.get", "MfaPoliciesSettingsSet.post"),
    *("ScimGetSettings.getSettings", "ScimSetSettings.setSettings"),
    "ScimDeleteSettings.deleteSettings",
    "PasswordExpiryPoliciesResourcesExpiryUpdate.post",
    *("DirectorySettings.view", "DirectorySettings.update"),
    *("DirectorySettings.disable", "DirectorySettings.test"),
    *("DirectorySync.synchronize", "DirectorySync.dryRun"),
    *("DirectoryIgnore.view", "DirectoryIgnore.add"),
    *("DirectoryIgnore.delete", "DirectoryIgnore.toggle"),
    *("ResourceLogs.view", "FolderLogs.view", "UserLogs.view", "ActionLogsIndex.index"),
    *("ReportsView.view",),
    *("SmtpSettingsGet.get", "SmtpSettingsPost.post", "SmtpSettingsEmail.sendTestEmail"),
}
"""Actions the catalogue names only."""
OURS = {
    "GroupLogs.view",
    "OpenApi.view",
    "SmtpSettingsDelete.delete",
}


def test_the_identifier_of_an_action_is_made_from_its_name():
    assert {name: named_id(name) for name in ACTIONS} == ACTIONS
    assert str(uuid5(NAMESPACE, "Jwks.rsa")) == ACTIONS["Jwks.rsa"]
    assert UNKNOWN_ACTION in ACTIONS


MAKE_NOTHING = {
    **dict.fromkeys(
        ("/mfa/verify/error.json", "/mfa/verify/totp.json", "/mfa/setup/totp.json"),
        "Steps of a sign-in: a code is good once, and an app that is set up is said to be.",
    ),
    **dict.fromkeys(
        (
            *("/mfa/settings.json", "/mfa-policies/settings.json"),
            "/directorysync/settings.json",
            *("/settings/emails/notifications.json", "/smtp/settings.json"),
        ),
        "What is there is changed, and says what was sent.",
    ),
    **dict.fromkeys(
        ("/auth/verify.json", "/auth/login.json", "/auth/jwt/login.json", "/auth/jwt/refresh.json"),
        "Steps of a sign-in are good once, and a refresh answers its repetition itself.",
    ),
    **dict.fromkeys(("/auth/logout.json", "/auth/jwt/logout.json"), "A session ends."),
    **dict.fromkeys(
        (
            *("/setup/complete/{user_id}.json", "/users/validateAccount/{user_id}.json"),
            *("/setup/recover/complete/{user_id}.json", "/setup/recover/abort/{user_id}.json"),
        ),
        "A link is good once, and who follows it again is told so.",
    ),
    **dict.fromkeys(
        (
            *("/roles/{role_id}.json", "/account/settings/locales.json"),
            *("/account/settings/themes.json", "/locale/settings.json"),
            *("/password-policies/settings.json", "/user-passphrase-policies/settings.json"),
            *("/self-registration/settings.json", "/folders/{folder_id}.json"),
            *("/move/{model}/{item}.json", "/share/folder/{folder_id}.json"),
            *("/metadata/keys/{metadata_key_id}.json", "/metadata/keys/settings.json"),
            *("/metadata/types/settings.json",),
            "/metadata/keys/private/{metadata_private_key_id}.json",
            *("/metadata/rotate-key/resources.json", "/metadata/rotate-key/folders.json"),
            *("/metadata/upgrade/resources.json", "/metadata/upgrade/folders.json"),
            "/metadata/session-keys/{session_key_id}.json",
            *("/metadata/rotate-key/tags.json", "/metadata/upgrade/tags.json"),
            "/tags/{tag_or_resource_id}.json",
            *("/password-expiry/settings.json", "/password-expiry/resources.json"),
            *("/rbacs.json", "/mobile/transfers/{transfer_id}.json"),
            "/mobile/transfers/{transfer_id}/{auth_token}.json",
            "/scim/settings/{scim_setting_id}.json",
            "/directorysync/ignore/{model}/{subject}.json",
        ),
        "What there is is given a value, again as at first; PUT by another name.",
    ),
    "/directorysync/synchronize.json": "A run that is repeated finds nothing left to do.",
    "/directorysync/ignore/toggle/{model}/{subject}.json": "It tells what stands there then.",
    "/smtp/email.json": "Each is a mail to try the server with, and nothing is stored.",
    "/mobile/transfers.json": "Its token is told once: who lost the answer begins another.",
    "/scim/settings.json": "There is one at most: who repeats the request is told so.",
    "/secret-revisions/settings.json": "What it accepts is what holds already.",
    **dict.fromkeys(
        (
            *("/self-registration/dry-run.json", "/directorysync/settings/test.json"),
            "/share/simulate/resource/{resource_id}.json",
        ),
        "It only tells what would be.",
    ),
}
"""The POSTs that make nothing, and why."""


@over()
def test_a_route_names_an_action_of_the_catalogue(route):
    assert route.action in {*ACTIONS, *NAMED_WITHOUT_ID, *OURS}


@over()
def test_a_route_says_who_may_call_it(route):
    assert isinstance(route.access, Access)


@pytest.mark.parametrize("name", ["method", "path", "action", "access", "handler"])
def test_a_route_cannot_leave_out_what_every_route_has(name):
    """AC01"""
    whole = {
        "method": "GET",
        "path": "/x.json",
        "action": "X.x",
        "access": Access.USER,
        "handler": print,
    }
    assert Route(**whole).path == "/x.json"
    with pytest.raises(TypeError, match=name):
        Route(**{key: value for key, value in whole.items() if key != name})


def test_an_endpoint_without_access_is_not_registered():
    """AC01"""
    endpoints = Endpoints(__name__)
    with pytest.raises(TypeError, match="access"):
        endpoints.get("/x.json", action="X.x")(lambda: None)
    assert endpoints.routes == []


@over()
def test_a_path_is_one_the_gateway_knows(route):
    assert re.fullmatch(r"(/[a-zA-Z_.-]+|/\{[a-z_]+\})+(\.json)?", route.path)
    assert len(set(route.path_names)) == len(route.path_names)
    handler = route.wants
    assert "_" in handler or set(route.path_names) <= handler


def test_no_two_routes_are_the_same():
    names = [served.name for served in every_endpoint()]
    assert len(set(names)) == len(names)


def test_paths_that_differ_in_a_parameter_name_the_parameter_alike():
    """The gateway has one parameter at one place of the tree."""
    seen: dict[tuple[str, ...], str] = {}
    for route in ROUTES:
        segments = route.path.removesuffix(".json").split("/")
        for at, segment in enumerate(segments):
            if segment.startswith("{"):
                assert seen.setdefault(tuple(segments[:at]), segment) == segment, route.path


@over(has_body)
def test_a_route_that_reads_a_body_hands_it_on(route):
    assert "body" in route.wants


@over(lambda route: bool(route.query.filters or route.query.is_paginated))
def test_a_route_that_offers_options_hands_them_on(route):
    assert "query" in route.wants


@over()
def test_messages_of_identifiers_are_about_those_in_the_path(route):
    assert set(route.ids) <= set(route.path_names)


@over(lambda route: route.access is Access.GUEST)
def test_a_route_of_guests_has_words_for_who_is_signed_in(route):
    assert route.denied
    assert route.denied.endswith(".")


@over(lambda route: route.method == "POST")
def test_what_makes_something_honours_an_idempotency_key(route: Route) -> None:
    """P2: `tests/services/test_creations.py` asks each of them"""
    assert (route.again is None) == (route.path in MAKE_NOTHING)
