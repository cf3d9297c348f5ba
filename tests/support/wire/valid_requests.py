"""A valid request of each endpoint: what it costs, who may send it, how it bears faults.

Tests that go over all endpoints send them; an endpoint without one fails them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from chalicelib.domain import clock
from chalicelib.domain.directory.scim import words as scim_words
from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import signing_keys
from chalicelib.services.sign_in import logins
from tests.support import relays
from tests.support.company import settings as directory
from tests.support.company import shared
from tests.support.environment import BASE_URL
from tests.support.storage import Storage
from tests.support.wire import handshake
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import groups, make, mobile, people, rbacs, scim, second_factors
from tests.support.world.items import (
    expiry,
    folders,
    metadata,
    resources,
    session_keys,
    shares,
    tags,
)
from tests.support.world.items.comments import commented
from tests.support.world.items.resources import secrets, v4
from tests.support.world.keys import KEYS, challenge, message
from tests.support.world.make import Somebody, Team
from tests.support.world.people import Invited
from tests.support.world.pictures import PNG, form
from tests.support.world.policies import password_policies

TOTP = resource_types.V5_TOTP_STANDALONE.id


@dataclass(frozen=True)
class Tenant:
    """Ada, who owns a resource she shares with Betty; Dave, invited; and who asks as nobody."""

    ada: Somebody
    betty: Somebody
    dave: Invited
    resource: str
    store: Storage
    guest: Client
    team: Team | None = None

    def warm(self) -> None:
        """Let this process read what it reads once and keeps."""
        signing_keys.signer()
        self.ada.client.get("/users/me.json")


def a_tenant(store, ada, betty):
    dave = people.invite(store, ada)
    resource = make.resource(ada, {betty: 1})
    tenant = Tenant(ada, betty, dave, resource, store, Client())
    tenant.warm()
    return tenant


def two_people(store):
    return a_tenant(store, make.user("ada", admin=True), make.user("betty"))


REQUESTS: dict[str, Callable] = {}
"""By name: what prepares a request and returns it."""


def of(*names):
    """Says for which requests a function prepares."""

    def noted(prepare):
        REQUESTS.update(dict.fromkeys(names, prepare))
        return prepare

    return noted


def both(path):
    """A change that has two methods."""
    return f"POST {path}", f"PUT {path}"


@dataclass(frozen=True)
class Request:
    """A request that is accepted, of who may send it; called, it is sent."""

    client: Client
    name: str
    ids: Mapping[str, str]
    body: Any
    options: Mapping[str, Any]

    @property
    def method(self) -> str:
        return self.name.split()[0]

    @property
    def path(self) -> str:
        path = self.name.split()[1]
        for word, value in self.ids.items():
            path = path.replace(f"{{{word}}}", value)
        return path

    def __call__(self) -> Response:
        return self.client.request(self.method, self.path, json=self.body, **self.options)


def sent(client, name, ids=None, body=None, **options):
    """What a name says; what a path names is told, and what is to be contained follows."""
    return Request(client, name, ids or {}, body, options)


@of(
    "GET /auth/verify.json",
    "GET /auth/jwt/jwks.json",
    "GET /auth/jwt/rsa.json",
    "GET /.well-known/jwks.json",
    "GET /users/csrf-token.json",
    "GET /healthcheck/status.json",
    "HEAD /healthcheck/status.json",
    "GET /openapi.json",
    "GET /img/avatar/user_medium.png",
    "GET /img/avatar/user.png",
    "GET /avatars/view/{avatar}/{avatar_format}",
)
def as_guest(tenant, name):
    return sent(tenant.guest, name, {"avatar": tenant.ada.id, "avatar_format": "medium.jpg"})


@of(
    "GET /users.json",
    "GET /users/{user}.json",
    "GET /gpgkeys.json",
    "GET /gpgkeys/{gpgkey_id}.json",
    "GET /roles.json",
    "GET /account/settings.json",
    "GET /account/settings/themes.json",
    "GET /password-policies/settings.json",
    "GET /user-passphrase-policies/settings.json",
    "GET /export-policies/settings.json",
    "GET /user-key-policies/settings.json",
    "GET /setup/user-key-policies/settings.json",
    "GET /resources.json",
    "GET /resources.json?contain[permissions]=1&contain[favorite]=1",
    "GET /resources.json?contain[creator]=1&contain[permissions.user.profile]=1",
    "GET /resources.json?contain[secret]=1",
    "GET /resources/{resource_id}.json",
    "GET /secrets/resource/{resource_id}.json",
    "GET /secret-revisions/resource/{resource_id}.json",
    "GET /secret-revisions/resource/{resource_id}.json?contain[creator]=1&contain[secret]=1",
    "GET /secret-revisions/settings.json",
    "DELETE /secret-revisions/settings.json",
    "GET /resource-types.json",
    "GET /resource-types/{resource_type_id}.json",
    "DELETE /resource-types/{resource_type_id}.json",
    "GET /settings.json",
    "GET /healthcheck.json",
)
def as_ada(tenant, name):
    ids = {
        "user": "me",
        "gpgkey_id": tenant.ada.gpgkey_id,
        "resource_id": tenant.resource,
        "resource_type_id": TOTP,
    }
    return sent(tenant.ada.client, name, ids)


@of("POST /auth/verify.json")
def stage_0(tenant, name):
    nonce = message(handshake.new_nonce(), handshake.SERVER.public)
    gpg_auth = {"keyid": tenant.betty.key.fingerprint, "server_verify_token": nonce}
    return sent(tenant.guest, name, body={"data": {"gpg_auth": gpg_auth}})


@of("POST /auth/login.json")
def stage_1(tenant, name):
    gpg_auth = {"keyid": tenant.betty.key.fingerprint}
    return sent(tenant.guest, name, body={"data": {"gpg_auth": gpg_auth}})


@of("POST /auth/login.json with the nonce")
def stage_2(tenant, name):
    key = tenant.betty.key
    nonce = handshake.ask_nonce(tenant.guest, key)
    gpg_auth = {"keyid": key.fingerprint, "user_token_result": nonce}
    return sent(tenant.guest, name, body={"data": {"gpg_auth": gpg_auth}})


@of("GET /auth/logout.json", "POST /auth/logout.json", "GET /auth/is-authenticated.json")
def by_cookie(tenant, name):
    client = handshake.signed_in(tenant.betty)
    return sent(client, name, headers={"x-csrf-token": client.cookies["csrfToken"]})


@of("POST /auth/jwt/login.json")
def jwt_login(tenant, name):
    claims = {
        "version": "1.0.0",
        "domain": BASE_URL,
        "verify_token": str(uuid4()),
        "verify_token_expiry": clock.timestamp() + 120,
    }
    who = tenant.betty
    sealed = challenge(json.dumps(claims), who.key.private, handshake.SERVER.public)
    return sent(tenant.guest, name, body={"user_id": who.id, "challenge": sealed}, **CSRF_PAIR)


def session_of(who):
    session, tokens = logins.new_session(who.user)
    logins.open_session(who.user, session, tokens, verify_token=new_id(), expiry=4_000_000_000)
    return tokens


@of("POST /auth/jwt/refresh.json")
def refresh(tenant, name):
    body = {"user_id": tenant.betty.id, "refresh_token": session_of(tenant.betty).refresh_token}
    return sent(tenant.guest, name, body=body)


@of("POST /auth/jwt/logout.json")
def jwt_logout(tenant, name):
    tokens = session_of(tenant.betty)
    return sent(Client(tokens.access_token), name, body={"refresh_token": tokens.refresh_token})


@of(
    *("GET /setup/start/{user_id}/{token_id}.json", "GET /setup/install/{user_id}/{token_id}.json"),
    *both("/setup/complete/{user_id}.json"),
    *both("/users/validateAccount/{user_id}.json"),
)
def setup(tenant, name):
    dave = tenant.dave
    body = None if name.startswith("GET") else proof(dave.token, "dave")
    return sent(tenant.guest, name, {"user_id": dave.id, "token_id": dave.token}, body)


def proof(token, name):
    return {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS[name].public},
    }


@of(
    "GET /setup/recover/start/{user_id}/{token_id}.json",
    "GET /setup/recover/{user_id}/{token_id}.json",
    *both("/setup/recover/complete/{user_id}.json"),
    *both("/setup/recover/abort/{user_id}.json"),
)
def recovery(tenant, name):
    betty = tenant.betty
    people.recover(tenant.guest, username=betty.user.username)
    links = {people.link_of(mail): mail for mail in people.mails(tenant.store)}
    [token] = [people.token_of(mail) for link, mail in links.items() if betty.id in link]
    body = None if name.startswith("GET") else proof(token, "betty")
    return sent(tenant.guest, name, {"user_id": betty.id, "token_id": token}, body, **CSRF_PAIR)


@of("POST /users.json")
def invite(tenant, name):
    return sent(tenant.ada.client, name, body=people.invitation("edith"))


@of(
    "GET /self-registration/settings.json",
    "DELETE /self-registration/settings/{setting_id}.json",
    *both("/self-registration/settings.json"),
)
def settle_registration(tenant, name):
    body = {"provider": "email_domains", "data": {"allowed_domains": ["example.com"]}}
    return sent(tenant.ada.client, name, {"setting_id": people.let_in(tenant.ada)}, body)


@of("GET /settings/emails/notifications.json", "POST /settings/emails/notifications.json")
def settle_mails(tenant, name):
    return sent(tenant.ada.client, name, body={"send_comment_add": False})


BELOW = "/scim/v2/{setting_id}"
"""What a directory asks for."""


@of(
    f"GET {BELOW}/Users",
    f"GET {BELOW}/Users?filter=userName+eq+%22dora%22",
    f"POST {BELOW}/Users/.search",
    f"POST {BELOW}/Users",
    f"GET {BELOW}/Groups",
    f"POST {BELOW}/Groups",
    f"POST {BELOW}/Groups/.search",
    f"POST {BELOW}/.search",
    f"GET {BELOW}/ServiceProviderConfig",
    f"GET {BELOW}/ResourceTypes",
    f"GET {BELOW}/ResourceTypes/{{resource_type}}",
    f"GET {BELOW}/Schemas",
    f"GET {BELOW}/Schemas/{{schema}}",
)
def provision(tenant, name):
    """By a directory that provisions a person and a group already."""
    directory = scim.directory(tenant.ada)
    directory.made("dora")
    directory.grouped("crew", tenant.betty.id)
    ids = {
        "setting_id": scim.SETTING_ID,
        "resource_type": "User",
        "schema": scim_words.USER,
    }
    body = {"Users": scim.person("edgar"), "Groups": scim.team("team", tenant.betty.id)}
    search = {"schemas": [scim_words.SEARCH]}
    return sent(directory, name, ids, body.get(name.rpartition("/")[2], search))


@of(
    f"GET {BELOW}/Users/{{user}}",
    f"PUT {BELOW}/Users/{{user}}",
    f"PATCH {BELOW}/Users/{{user}}",
    f"DELETE {BELOW}/Users/{{user}}",
)
def provision_a_person(tenant, name):
    directory = scim.directory(tenant.ada)
    ids = {"setting_id": scim.SETTING_ID, "user": directory.made("dora")["id"]}
    off = {"schemas": [scim_words.PATCH], "Operations": [scim.replace("active", value=False)]}
    body = {"PUT": scim.person("dory", emails=[]), "PATCH": off}
    return sent(directory, name, ids, body.get(name.split()[0]))


@of(
    f"GET {BELOW}/Groups/{{group}}",
    f"PUT {BELOW}/Groups/{{group}}",
    f"PATCH {BELOW}/Groups/{{group}}",
    f"DELETE {BELOW}/Groups/{{group}}",
)
def provision_a_group(tenant, name):
    directory = scim.directory(tenant.ada)
    ids = {"setting_id": scim.SETTING_ID, "group": directory.grouped("crew")["id"]}
    join = scim.add("members", [{"value": tenant.betty.id}])
    body = {
        "PUT": scim.team("team", tenant.betty.id),
        "PATCH": {"schemas": [scim_words.PATCH], "Operations": [join]},
    }
    return sent(directory, name, ids, body.get(name.split()[0]))


@of("POST /scim/settings.json")
def let_a_directory_in(tenant, name):
    return sent(tenant.ada.client, name, body=scim.settings_body(tenant.ada.id))


@of(
    "GET /scim/settings.json",
    *both("/scim/settings/{scim_setting_id}.json"),
    "DELETE /scim/settings/{scim_setting_id}.json",
)
def settle_provisioning(tenant, name):
    body = {"scim_user_id": tenant.ada.id, "secret_token": scim.OTHER_TOKEN}
    ids = {"scim_setting_id": scim.settled(tenant.ada)}
    return sent(tenant.ada.client, name, ids, None if name.startswith("GET") else body)


@of(
    "GET /password-expiry/settings.json",
    "DELETE /password-expiry/settings/{expiry_setting_id}.json",
    *both("/password-expiry/settings.json"),
)
def settle_expiry(tenant, name):
    setting = expiry.turned_on(tenant.ada)
    return sent(tenant.ada.client, name, {"expiry_setting_id": setting["id"]}, expiry.SETTINGS)


@of("POST /password-expiry/resources.json")
def mark_as_expired(tenant, name):
    body = [{"id": tenant.resource, "expired": "2026-11-21T12:00:00Z"}]
    return sent(tenant.ada.client, name, body=body)


@of(*both("/secret-revisions/settings.json"))
def keep_one_revision(tenant, name):
    body = {"max_revisions": 1, "allow_sharing_revisions": False}
    return sent(tenant.ada.client, name, body=body)


@of(
    "GET /mfa/settings.json",
    *both("/mfa/settings.json"),
    "GET /mfa-policies/settings.json",
    "POST /mfa-policies/settings.json",
)
def settle_second_factors(tenant, name):
    policies = {"policy": "opt-in", "remember_me_for_a_month": False}
    return sent(tenant.ada.client, name, body={"providers": ["totp"], **policies})


@of(
    "GET /directorysync/settings.json",
    "DELETE /directorysync/settings.json",
    *both("/directorysync/settings.json"),
    *both("/directorysync/settings/test.json"),
)
def settle_directory(tenant, name):
    company = shared.company()
    if name.startswith(("GET", "DELETE")):
        directory.saved(tenant.ada, company)
    return sent(tenant.ada.client, name, body=directory.form(tenant.ada, company))


@of(
    "GET /smtp/settings.json",
    "POST /smtp/settings.json",
    "POST /smtp/email.json",
    "DELETE /smtp/settings.json",
)
def name_a_mail_server(tenant, name):
    form = relays.shared().form()
    if name.startswith(("GET", "DELETE")):
        tenant.ada.client.post("/smtp/settings.json", form)
        form = None
    elif name.endswith("/email.json"):
        form["email_test_to"] = "dave@example.com"
    return sent(tenant.ada.client, name, body=form)


@of("GET /directorysync/synchronize/dry-run.json", "POST /directorysync/synchronize.json")
def synchronise(tenant, name):
    """With a directory that has somebody, and a group of theirs."""
    directory.saved(tenant.ada, shared.staffed())
    return sent(tenant.ada.client, name, body={} if name.startswith("POST") else None)


@of(
    "GET /directorysync/ignore/{model}/{subject}.json",
    "POST /directorysync/ignore/{model}/{subject}.json",
    "DELETE /directorysync/ignore/{model}/{subject}.json",
    "POST /directorysync/ignore/toggle/{model}/{subject}.json",
)
def leave_alone(tenant, name):
    directory.saved(tenant.ada, shared.company())
    ids = {"model": "users", "subject": tenant.betty.id}
    if name.startswith(("GET", "DELETE")):
        tenant.ada.client.post(f"/directorysync/ignore/users/{tenant.betty.id}.json")
    return sent(tenant.ada.client, name, ids)


@of("GET /mfa/setup/totp.json", "POST /mfa/setup/totp.json", "GET /mfa/setup/select.json")
def set_up_an_app(tenant, name):
    second_factors.turn_on(tenant.ada)
    app = second_factors.offered(tenant.betty.client)
    body = {"otpProvisioningUri": app.uri, "totp": app.code()}
    return sent(tenant.betty.client, name, body=body)


@of("DELETE /mfa/setup/totp.json", "DELETE /mfa/setup/{user_id}.json")
def remove_an_app(tenant, name):
    """By Betty, who has given her code; a reset is Ada's, who has no app."""
    second_factors.turn_on(tenant.ada)
    client = tenant.betty.client
    answer = second_factors.confirmed(client, second_factors.offered(client))
    verified = Client(client.token, handshake.cookies_of(answer))
    who = tenant.ada.client if name.endswith("{user_id}.json") else verified
    return sent(who, name, {"user_id": tenant.betty.id})


LEADS_ON = tuple(f"{each} /mfa/verify/error.json" for each in ("GET", "POST", "PUT", "DELETE"))
"""They change nothing and say 403 by whichever method: what clients are led to who lack a code."""


REPORTS = ("GET /reports/{slug}.json", "GET /reports/{slug}/{argument}.json")
"""There are none, which is said of each."""


def is_done(name: str, status: int) -> bool:
    """Whether this is what a valid request is answered that nothing disturbs."""
    if name in REPORTS:
        return status == 400
    return status == 403 if name in LEADS_ON else status in (200, 201, 204, 301)


@of(*REPORTS)
def ask_for_a_report(tenant, name):
    return sent(tenant.ada.client, name, {"slug": "mfa", "argument": "all"})


@of("GET /actionlog/logs.json?contain[user]=1", "GET /actionlog/logs.json")
def ask_for_the_log_of_the_service(tenant, name):
    return sent(tenant.ada.client, name)


@of("GET /actionlog/resource/{resource_id}.json", "GET /actionlog/user/{user_id}.json")
def ask_for_the_log(tenant, name):
    ids = {"resource_id": tenant.resource, "user_id": tenant.betty.id}
    return sent(tenant.ada.client, name, ids)


@of("GET /actionlog/folder/{folder_id}.json")
def ask_for_the_log_of_a_folder(tenant, name):
    return sent(tenant.ada.client, name, {"folder_id": folders.like(tenant.resource)})


@of("GET /actionlog/group/{group_id}.json")
def ask_for_the_log_of_a_group(tenant, name):
    team = tenant.team or make.group(tenant.ada, tenant.betty)
    return sent(tenant.ada.client, name, {"group_id": team.id})


@of(
    *LEADS_ON,
    "GET /mfa/verify/totp.json",
    "POST /mfa/verify/totp.json",
)
def give_a_code(tenant, name):
    """The code of the step that comes: that of now was used to set the app up."""
    second_factors.turn_on(tenant.ada)
    app = second_factors.set_up(tenant.betty.client)
    return sent(tenant.betty.client, name, body={"totp": app.code(1), "remember": True})


@of("POST /self-registration/dry-run.json")
def try_out_registration(tenant, name):
    people.let_in(tenant.ada)
    return sent(tenant.guest, name, body={"email": "edith@example.com"}, **CSRF_PAIR)


@of("POST /users/register.json")
def register(tenant, name):
    people.let_in(tenant.ada)
    return sent(tenant.guest, name, body=people.invitation("edith"), **CSRF_PAIR)


@of("POST /users/recover.json")
def recover(tenant, name):
    return sent(tenant.guest, name, body={"username": tenant.betty.user.username}, **CSRF_PAIR)


@of(*both("/users/{user}.json"))
def edit_user(tenant, name):
    body = {"profile": {"first_name": "Elizabeth"}}
    return sent(tenant.ada.client, name, {"user": tenant.betty.id}, body)


@of("POST /users/{user}.json with an avatar")
def send_avatar(tenant, name):
    picture = form(profile__avatar__file=("me.png", "image/png", PNG))
    return sent(tenant.betty.client, name, {"user": tenant.betty.id}, **picture)


@of("POST /account/settings/locales.json")
def choose_locale(tenant, name):
    return sent(tenant.ada.client, name, body={"value": "de-DE"})


@of("POST /account/settings/themes.json")
def choose_theme(tenant, name):
    return sent(tenant.ada.client, name, body={"value": "midgar"})


@of("POST /locale/settings.json")
def choose_locale_of_all(tenant, name):
    return sent(tenant.ada.client, name, body={"value": "de-DE"})


@of(*both("/password-policies/settings.json"))
def save_password_policies(tenant, name):
    return sent(tenant.ada.client, name, body=password_policies())


@of(*both("/user-passphrase-policies/settings.json"))
def save_passphrase_policies(tenant, name):
    body = {"entropy_minimum": 80, "external_dictionary_check": False}
    return sent(tenant.ada.client, name, body=body)


@of("POST /roles.json")
def add_role(tenant, name):
    return sent(tenant.ada.client, name, body={"name": "auditor"})


@of(*both("/roles/{role_id}.json"), "DELETE /roles/{role_id}.json")
def change_role(tenant, name):
    return sent(tenant.ada.client, name, {"role_id": make.role(tenant.ada)}, {"name": "reviewer"})


@of("GET /rbacs.json", "GET /rbacs/me.json", "GET /rbacs/uiactions.json", *both("/rbacs.json"))
def control(tenant, name):
    body = None if name.startswith("GET") else [rbacs.setting("Resources.export", "Deny")]
    who = tenant.betty if name.endswith("me.json") else tenant.ada
    return sent(who.client, name, body=body)


@of("POST /groups.json of a user who is allowed to")
def create_group_as_user(tenant, name):
    rbacs.put(tenant.ada, rbacs.setting("GroupsAdd.addPost", "Allow"))
    return sent(tenant.betty.client, name, body=groups.body(tenant.ada, tenant.betty))


@of("DELETE /roles/{role_id}.json of which something is said")
def delete_controlled_role(tenant, name):
    role_id = make.role(tenant.ada)
    rbacs.put(tenant.ada, rbacs.setting("Resources.export", "Deny", role_id))
    return sent(tenant.ada.client, name, {"role_id": role_id})


@of("PUT /users/{user}.json with another role")
def give_role(tenant, name):
    body = {"role_id": make.role(tenant.ada)}
    return sent(tenant.ada.client, name, {"user": tenant.betty.id}, body)


@of(
    "POST /mobile/transfers.json",
    "GET /mobile/transfers/{transfer_id}.json",
    "GET /mobile/transfers/{transfer_id}.json?contain[user.profile]=1",
    *both("/mobile/transfers/{transfer_id}.json"),
    *both("/mobile/transfers/{transfer_id}/{auth_token}.json"),
    "PUT /mobile/transfers/{transfer_id}/{auth_token}.json to the end",
)
def transfer_key(tenant, name):
    """Of three pages, of which the phone has read two."""
    if name.startswith("POST /mobile/transfers.json"):
        return sent(tenant.betty.client, name, body=mobile.NEW)
    transfer = mobile.begun(tenant.betty)
    ids = {"transfer_id": transfer["id"], "auth_token": mobile.token_of(transfer)}
    client = tenant.guest if "{auth_token}" in name else tenant.betty.client
    body = mobile.LAST if name.endswith("end") else mobile.SECOND
    return sent(client, name, ids, None if name.startswith("GET") else body)


@of("POST /resources.json", "POST /import/resources.json")
def create(tenant, name):
    return sent(tenant.ada.client, name, body=v4())


@of("PUT /resources/{resource_id}.json", "DELETE /resources/{resource_id}.json")
def change(tenant, name):
    return sent(tenant.ada.client, name, {"resource_id": tenant.resource}, {"name": "new"})


@of("PUT /resources/{resource_id}.json with two secrets")
def update_secrets(tenant, name):
    body = {"name": "new", "secrets": secrets(tenant.ada, tenant.betty)}
    return sent(tenant.ada.client, name, {"resource_id": tenant.resource}, body)


@of("PUT /resource-types/{resource_type_id}.json")
def restore_type(tenant, name):
    assert tenant.ada.client.delete(f"/resource-types/{TOTP}.json").status == 200
    return sent(tenant.ada.client, name, {"resource_type_id": TOTP}, {"deleted": None})


@of(
    "GET /permissions/resource/{resource_id}.json",
    "GET /share/search-aros.json",
    "GET /share/search-users/resource/{resource}.json",
    "POST /share/simulate/resource/{resource_id}.json",
    "PUT /share/resource/{resource_id}.json",
)
def share(tenant, name):
    carol = make.user("carol")
    body = {"permissions": [shares.add(carol)], "secrets": secrets(carol)}
    ids = {"resource_id": tenant.resource, "resource": tenant.resource}
    return sent(tenant.ada.client, name, ids, body)


@of("POST /favorites/resource/{resource_id}.json", "DELETE /favorites/{favorite_id}.json")
def favorite(tenant, name):
    if name.startswith("POST"):
        return sent(tenant.betty.client, name, {"resource_id": tenant.resource})
    marked = tenant.betty.client.post(f"/favorites/resource/{tenant.resource}.json")
    return sent(tenant.betty.client, name, {"favorite_id": marked.body["id"]})


@of(
    "GET /comments/resource/{resource_id}.json",
    "GET /comments/resource/{resource_id}.json?contain[creator]=1&contain[modifier]=1",
    "POST /comments/resource/{resource_id}.json",
    "POST /comments/resource/{resource_id}.json as a reply",
    "PUT /comments/{comment_id}.json",
    "DELETE /comments/{comment_id}.json",
)
def comment(tenant, name):
    comment_id = commented(tenant.betty, tenant.resource)
    parent = {"parent_id": comment_id} if name.endswith("reply") else {}
    ids = {"resource_id": tenant.resource, "comment_id": comment_id}
    return sent(tenant.betty.client, name, ids, {"content": "hello again", **parent})


@of(
    "GET /metadata/session-keys.json",
    "POST /metadata/session-keys.json",
    *both("/metadata/session-keys/{session_key_id}.json"),
    "DELETE /metadata/session-keys/{session_key_id}.json",
)
def keep_session_keys(tenant, name):
    return about_session_keys(tenant.betty, name, session_keys.blob)


@of(
    "GET /metadata/session-keys.json of many",
    "POST /metadata/session-keys.json with many",
    "PUT /metadata/session-keys/{session_key_id}.json with many",
    "DELETE /metadata/session-keys/{session_key_id}.json of many",
)
def keep_many_session_keys(tenant, name):
    """In two parts each."""
    return about_session_keys(tenant.betty, name, partial(session_keys.of_length, length=400_000))


def about_session_keys(who, name, blob):
    entry = session_keys.added(who, blob(who))
    body = {"data": blob(who), "modified": entry["modified"]}
    return sent(who.client, name, {"session_key_id": entry["id"]}, body)


@of("POST /folders.json", "POST /folders.json in a folder")
def create_folder(tenant, name):
    parent = folders.folder(tenant.ada) if name.endswith("folder") else None
    return sent(tenant.ada.client, name, body={"name": "work", "folder_parent_id": parent})


@of(
    "GET /folders.json",
    "GET /folders.json?contain[children_folders]=1&contain[children_resources]=1",
    "GET /folders/{folder_id}.json",
    "GET /folders/{folder_id}.json?contain[permissions.user.profile]=1",
    *both("/folders/{folder_id}.json"),
    "DELETE /folders/{folder_id}.json",
    "DELETE /folders/{folder_id}.json?cascade=1",
)
def ask_of_folder(tenant, name):
    """Of a folder of those who have the resource, with a folder of Ada's and a resource in it."""
    work = folders.like(tenant.resource)
    folders.folder(tenant.ada, "drafts", work)
    folders.resource(tenant.ada, work)
    return sent(tenant.ada.client, name, {"folder_id": work}, {"name": "new"})


@of(*both("/share/folder/{folder_id}.json"))
def share_folder(tenant, name):
    """Carol gets a folder, and finds in it what she has already."""
    carol, work = make.user("carol"), folders.like(tenant.resource)
    resources.give(tenant.resource, carol, PermissionType.READ)
    assert folders.move(tenant.ada, "resource", tenant.resource, work).status == 200
    body = {"permissions": [shares.add(carol)]}
    return sent(tenant.ada.client, name, {"folder_id": work}, body)


@of(
    *both("/move/{model}/{item}.json"),
    "PUT /move/{model}/{item}.json of a folder",
    "PUT /move/{model}/{item}.json of Betty's own",
)
def move(tenant, name):
    """Into a folder that both have: what both have, or a folder of Ada's; or into one's own."""
    who = tenant.betty if name.endswith("own") else tenant.ada
    of_folder = name.endswith("a folder")
    item = folders.folder(who, "drafts") if of_folder else tenant.resource
    to = folders.folder(who) if name.endswith("own") else folders.like(tenant.resource)
    ids = {"model": "folder" if of_folder else "resource", "item": item}
    return sent(who.client, name, ids, {"folder_parent_id": to})


@of("DELETE /users/{user}.json", "DELETE /users/{user}/dry-run.json")
def delete_user(tenant, name):
    return sent(tenant.ada.client, name, {"user": tenant.betty.id})


@of("POST /groups.json")
def create_group(tenant, name):
    return sent(tenant.ada.client, name, body=groups.body(tenant.ada, tenant.betty))


@of(
    "GET /groups.json",
    "GET /groups.json?contain[groups_users.user.gpgkey]=1&contain[my_group_user]=1",
    "GET /groups/{group}.json",
    "GET /groups/{group}.json?contain[groups_users.user.gpgkey]=1&contain[my_group_user]=1",
    "PUT /groups/{group}.json",
    "PUT /groups/{group}.json with a new name",
    "PUT /groups/{group}.json without a member",
    "PUT /groups/{group}/dry-run.json",
)
def ask_of_group(tenant, name):
    """Of a group with one resource: Carol joins, or Betty leaves."""
    team = tenant.team or make.group(tenant.ada, tenant.betty)
    carol = make.user("carol")
    resource = make.resource(tenant.ada, {team: 1})
    body = {"groups_users": [groups.add(carol)], "secrets": [groups.secret(carol, resource)]}
    if name.endswith("name"):
        body = {"name": "crew"}
    if name.endswith("member"):
        body = {"groups_users": [groups.remove(team, tenant.betty)]}
    return sent(tenant.ada.client, name, {"group": team.id}, body)


@of("DELETE /groups/{group}.json", "DELETE /groups/{group}/dry-run.json")
def delete_group(tenant, name):
    team = tenant.team or make.group(tenant.ada, tenant.betty)
    return sent(tenant.ada.client, name, {"group": team.id})


WRITES_ON_GET = ("GET /auth/logout.json", "GET /secrets/resource/{resource_id}.json")


IN_STEPS = {"POST /directorysync/synchronize.json"}
"""Each person and group is a change of its own: it is done in part, and what is left is told."""


def requests_at_once() -> list[str]:
    """The names of the requests that are done as a whole or not at all."""
    return sorted(REQUESTS.keys() - IN_STEPS)


def changes_at_once() -> list[str]:
    return sorted(set(changes()) - IN_STEPS)


def changes() -> list[str]:
    """The names of all requests that write something."""
    reads = [name for name in REQUESTS if name.startswith(("GET ", "HEAD "))]
    return sorted(REQUESTS.keys() - (set(reads) - set(WRITES_ON_GET)) - set(LEADS_ON))


@of(
    "GET /metadata/keys.json",
    "GET /metadata/keys.json?contain[metadata_private_keys]=1",
    "GET /metadata/keys/settings.json",
    "GET /metadata/types/settings.json",
    "GET /metadata/setup/settings.json",
    "GET /metadata/settings/getting-started.json",
)
def ask_of_metadata(tenant, name):
    metadata.shared(tenant.ada, tenant.betty, None)
    return sent(tenant.ada.client, name)


@of("POST /metadata/keys.json")
def create_metadata_key(tenant, name):
    """The second: one that is active is there."""
    metadata.shared(tenant.ada, tenant.betty)
    copies = metadata.body_of(metadata.pair(2), tenant.ada, tenant.betty, None)
    return sent(tenant.ada.client, name, body=copies)


@of(*both("/metadata/keys/{metadata_key_id}.json"))
def expire_metadata_key(tenant, name):
    key = metadata.shared(tenant.ada, tenant.betty)
    return sent(tenant.ada.client, name, {"metadata_key_id": key.id}, metadata.expiry(key))


@of("DELETE /metadata/keys/{metadata_key_id}.json")
def delete_metadata_key(tenant, name):
    key = metadata.shared(tenant.ada, tenant.betty, None)
    assert metadata.expire(tenant.ada, key).status == 200
    return sent(tenant.ada.client, name, {"metadata_key_id": key.id})


@of("POST /metadata/keys/privates.json", *both("/metadata/keys/private.json"))
def share_metadata_key(tenant, name):
    key = metadata.shared(tenant.ada)
    entry = {
        "metadata_key_id": key.id,
        "user_id": tenant.betty.id,
        "data": metadata.copy_for(key, tenant.betty),
    }
    return sent(tenant.ada.client, name, body=[entry])


@of("POST /metadata/keys/{metadata_key_id}/private.json")
def share_metadata_key_with_one(tenant, name):
    key = metadata.shared(tenant.ada)
    body = {"user_id": tenant.betty.id, "data": metadata.copy_for(key, tenant.betty)}
    return sent(tenant.ada.client, name, {"metadata_key_id": key.id}, body)


@of(*both("/metadata/keys/private/{metadata_private_key_id}.json"))
def renew_metadata_private_key(tenant, name):
    key = metadata.shared(tenant.ada, tenant.betty)
    copy = metadata.own_copies(tenant.betty)[key.id]["id"]
    body = {"data": metadata.copy_for(key, tenant.betty, tenant.betty)}
    return sent(tenant.betty.client, name, {"metadata_private_key_id": copy}, body)


@of(*both("/metadata/keys/settings.json"))
def save_keys_settings(tenant, name):
    """The server's copies go."""
    metadata.shared(tenant.ada, None)
    body = metadata.PERSONAL | {"zero_knowledge_key_share": True}
    return sent(tenant.ada.client, name, body=body)


@of(*both("/metadata/types/settings.json"))
def save_types_settings(tenant, name):
    metadata.shared(tenant.ada)
    return sent(tenant.ada.client, name, body=metadata.V5_ON)


@of(
    "GET /metadata/rotate-key/resources.json",
    "GET /metadata/rotate-key/folders.json",
    "POST /metadata/rotate-key/resources.json",
    "POST /metadata/rotate-key/folders.json",
)
def rotate_metadata(tenant, name):
    """One item of Betty's is encrypted to a key that has expired."""
    key = metadata.shared(tenant.ada, tenant.betty)
    metadata.allow_v5(tenant.ada)
    kind = name.split("/")[-1].removesuffix(".json")
    body = metadata.v5_resource(key) if kind == "resources" else metadata.described(key)
    row = tenant.betty.client.post(f"/{kind}.json", body).body
    follows = metadata.shared(tenant.ada, tenant.betty, number=2)
    assert metadata.expire(tenant.ada, key).status == 200
    return sent(tenant.ada.client, name, body=[{**row, **metadata.described(follows)}])


@of("GET /metadata/rotate-key/tags.json", "POST /metadata/rotate-key/tags.json")
def rotate_tags(tenant, name):
    """A tag of Betty's is encrypted to a key that has expired."""
    key = metadata.shared(tenant.ada, tenant.betty)
    tags.allow_v5_tags(tenant.ada)
    [tag_id] = tags.tagged(
        tenant.betty, tenant.resource, tags.common(key, is_shared=False)
    ).values()
    follows = metadata.shared(tenant.ada, tenant.betty, number=2)
    assert metadata.expire(tenant.ada, key).status == 200
    return sent(tenant.ada.client, name, body=[{"id": tag_id, **metadata.described(follows)}])


@of("GET /metadata/upgrade/tags.json", "POST /metadata/upgrade/tags.json")
def upgrade_tags(tenant, name):
    """A tag of Betty's is in clear."""
    key = metadata.shared(tenant.ada, tenant.betty)
    [tag_id] = tags.tagged(tenant.betty, tenant.resource, "hers").values()
    return sent(tenant.ada.client, name, body=[{"id": tag_id, **metadata.described(key)}])


@of(
    "GET /tags.json",
    "POST /tags/{tag_or_resource_id}.json",
    "POST /tags/{tag_or_resource_id}.json with a shared tag",
    "PUT /tags/{tag_or_resource_id}.json",
    "DELETE /tags/{tag_or_resource_id}.json",
    "GET /resources.json?contain[tag]=1",
)
def tag_resources(tenant, name):
    """The resource has a tag of Ada's, who adds one, or of Betty's, who renames or deletes it."""
    who = tenant.betty if name.startswith(("PUT", "DELETE")) else tenant.ada
    [tag_id] = tags.tagged(who, tenant.resource, "work").values()
    ids = {"tag_or_resource_id": tenant.resource if name.startswith("POST") else tag_id}
    slugs = ["work", "#team"] if name.endswith("shared tag") else ["work", "home"]
    body = {"slug": "job"} if name.startswith("PUT") else {"tags": slugs}
    has_body = name.startswith(("POST", "PUT"))
    return sent(who.client, name, ids, body if has_body else None)


@of(
    "GET /metadata/upgrade/resources.json",
    "GET /metadata/upgrade/folders.json",
    "POST /metadata/upgrade/resources.json",
    "POST /metadata/upgrade/folders.json",
)
def upgrade_metadata(tenant, name):
    """What both have is named in clear."""
    key = metadata.shared(tenant.ada, tenant.betty)
    folders.folder(tenant.ada)
    row, *_ = tenant.ada.client.get(name.split()[1]).body
    return sent(tenant.ada.client, name, body=[{**row, **metadata.described(key)}])
