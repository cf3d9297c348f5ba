"""What people are told of by mail: each kind of event, its switch, and where its link leads."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum

from chalicelib.domain.light import dataclass


class Event(StrEnum):
    """What has happened; the value is the name of its texts (`views/mails.py`)."""

    ADMINISTRATOR_ADMITTED = "administrator-admitted"
    ADMINISTRATOR_ASKED_FOR = "administrator-asked-for"
    ADMINISTRATOR_DELETED = "administrator-deleted"
    ADMINISTRATOR_REVOKED = "administrator-revoked"
    COMMENT_ADDED = "comment-added"
    DIRECTORY_NOT_SYNCHRONISED = "directory-not-synchronised"
    DIRECTORY_SETTINGS_SAVED = "directory-settings-saved"
    EXPIRED_BY_USER = "expired-by-user"
    EXPIRED_AUTOMATICALLY = "expired-automatically"
    EXPIRING_TODAY = "expiring-today"
    FOLDER_CONTENT_DELETED = "folder-content-deleted"
    FOLDER_CREATED = "folder-created"
    FOLDER_DELETED = "folder-deleted"
    FOLDER_SHARED = "folder-shared"
    FOLDER_UPDATED = "folder-updated"
    GROUP_ADDITIONS_WANTED = "group-additions-wanted"
    GROUP_ADDED = "group-added"
    GROUP_DELETED = "group-deleted"
    GROUP_LEFT = "group-left"
    GROUP_MEMBERS_CHANGED = "group-members-changed"
    GROUP_ROLE_CHANGED = "group-role-changed"
    METADATA_KEY_CREATED = "metadata-key-created"
    METADATA_KEY_DELETED = "metadata-key-deleted"
    METADATA_KEY_EXPIRED = "metadata-key-expired"
    METADATA_SETTINGS_SAVED = "metadata-settings-saved"
    MFA_POLICIES_SAVED = "mfa-policies-saved"
    PASSPHRASE_POLICIES_SAVED = "passphrase-policies-saved"  # noqa: S105 - a name
    PASSWORD_EXPIRY_SAVED = "password-expiry-saved"  # noqa: S105 - a name
    PASSWORD_POLICIES_SAVED = "password-policies-saved"  # noqa: S105 - a name
    RECOVERY_ABORTED = "recovery-aborted"
    RECOVERY_COMPLETED = "recovery-completed"
    RECOVERY_COMPLETED_OF_USER = "recovery-completed-of-user"
    REGISTERED = "registered"
    RESOURCE_CREATED = "resource-created"
    RESOURCE_DELETED = "resource-deleted"
    RESOURCE_SHARED = "resource-shared"
    RESOURCE_UPDATED = "resource-updated"
    ROLE_CHANGED = "role-changed"
    ROLE_CREATED = "role-created"
    ROLE_RENAMED = "role-renamed"
    SCIM_SETTINGS_SAVED = "scim-settings-saved"
    SECOND_FACTOR_RESET = "second-factor-reset"
    SELF_REGISTRATION = "self-registration"
    SERVER_KEY_ANNOUNCED = "server-key-announced"
    SERVER_KEY_CHANGED = "server-key-changed"
    SERVER_KEY_RETIRED = "server-key-retired"
    SETUP_COMPLETED = "setup-completed"
    SIGN_IN_REFUSED = "sign-in-refused"
    SIGN_IN_REFUSED_OF_USER = "sign-in-refused-of-user"
    SMTP_SETTINGS_SAVED = "smtp-settings-saved"
    SUSPENDED = "suspended"
    TOKEN_REUSED = "token-reused"  # noqa: S105 - a name
    TOKEN_REUSED_OF_USER = "token-reused-of-user"  # noqa: S105 - a name
    USER_DELETED = "user-deleted"
    USER_SUSPENDED = "user-suspended"


DIGEST = "digest"
"""The template of one mail in place of several."""


class Reach(Enum):
    """Which of those who are told get a mail."""

    ACTIVE = "active"
    """Whoever may sign in."""
    INVITED = "invited"
    """Also who has yet to complete the setup."""
    SUSPENDED = "suspended"
    """Also who is suspended: it is what they are told."""


@dataclass(frozen=True, slots=True)
class Kind:
    path: str
    """Where the mail's link leads within the tenant's address; `{id}` is the subject."""
    switch: str | None = None
    """The setting by which an administrator turns these mails off; none for those always sent."""
    params: frozenset[str] = frozenset()
    """What the texts may say besides who did it. A value that is not there is left unsaid."""
    family: str | None = None
    """Mails of one family, about one actor, are gathered in one where they wait together."""
    reach: Reach = Reach.ACTIVE

    def path_to(self, subject: str) -> str:
        """Where the link leads: to the subject, or to the list where it is about several."""
        return self.path.format(id=subject) if subject else self.path.removesuffix("/view/{id}")


_NAME = frozenset({"name"})
_ASKED = frozenset({"name", "username", "reason", "asked_by"})
_SENDER = frozenset({"source", "agent"})
"""Whom a request came from: a network address, and what the program calls itself."""
_FINGERPRINT = frozenset({"fingerprint"})
_OFF = frozenset({"off"})
"""Said where settings are taken away, and not changed."""
_SINCE = frozenset({"since"})
"""Said of what begins later."""
_PASSWORDS = "/app/passwords"
_RESOURCE = "/app/passwords/view/{id}"
_FOLDER = "/app/folders/view/{id}"
_GROUP = "/app/groups/view/{id}"
_USER = "/app/users/view/{id}"
_USERS = "/app/users"
_SIGN_IN = "/auth/login"
_DIRECTORY = "/app/administration/users-directory"
_ADMINISTRATION = "/app/administration"
_ROLES = "/app/administration/role-based-access-control"
_METADATA_KEYS = "/app/administration/content-types/metadata-key"

KINDS: Mapping[str, Kind] = {
    Event.ADMINISTRATOR_ADMITTED: Kind(_USERS, params=_ASKED | {"granted_by"}),
    Event.ADMINISTRATOR_ASKED_FOR: Kind(_USERS, params=_ASKED),
    Event.ADMINISTRATOR_DELETED: Kind(_USERS, params=_NAME),
    Event.ADMINISTRATOR_REVOKED: Kind(_USER, params=_NAME | _SENDER),
    Event.COMMENT_ADDED: Kind(_RESOURCE, "send_comment_add", _NAME),
    Event.DIRECTORY_NOT_SYNCHRONISED: Kind(_DIRECTORY, params=frozenset({"trouble"})),
    Event.DIRECTORY_SETTINGS_SAVED: Kind(_DIRECTORY, params=_OFF),
    Event.EXPIRED_BY_USER: Kind(_RESOURCE, "send_password_expire", _NAME, "expired"),
    Event.EXPIRED_AUTOMATICALLY: Kind(_RESOURCE, "send_password_expire", _NAME, "expired"),
    Event.EXPIRING_TODAY: Kind(_RESOURCE, "send_password_expire", _NAME, "expired"),
    Event.FOLDER_CONTENT_DELETED: Kind(_PASSWORDS, "send_folder_delete", _NAME, "folder"),
    Event.FOLDER_CREATED: Kind(_FOLDER, "send_folder_create", _NAME, "folder"),
    Event.FOLDER_DELETED: Kind(_PASSWORDS, "send_folder_delete", _NAME, "folder"),
    Event.FOLDER_SHARED: Kind(_FOLDER, "send_folder_share", _NAME, "share"),
    Event.FOLDER_UPDATED: Kind(_FOLDER, "send_folder_update", _NAME, "folder"),
    Event.GROUP_ADDITIONS_WANTED: Kind(
        _GROUP, "send_group_manager_requestAddUser", _NAME | {"people"}
    ),
    Event.GROUP_ADDED: Kind(_GROUP, "send_group_user_add", _NAME, "group-membership"),
    Event.GROUP_DELETED: Kind(_PASSWORDS, "send_group_delete", _NAME),
    Event.GROUP_LEFT: Kind(_PASSWORDS, "send_group_user_delete", _NAME, "group-membership"),
    Event.GROUP_MEMBERS_CHANGED: Kind(
        _GROUP, "send_group_manager_update", _NAME | {"added", "changed", "removed"}
    ),
    Event.GROUP_ROLE_CHANGED: Kind(
        _GROUP, "send_group_user_update", _NAME | {"manages"}, "group-membership"
    ),
    Event.METADATA_KEY_CREATED: Kind(_METADATA_KEYS),
    Event.METADATA_KEY_DELETED: Kind(_METADATA_KEYS),
    Event.METADATA_KEY_EXPIRED: Kind(_METADATA_KEYS),
    Event.METADATA_SETTINGS_SAVED: Kind("/app/administration/content-types/metadata"),
    Event.MFA_POLICIES_SAVED: Kind("/app/administration/mfa-policy"),
    Event.PASSPHRASE_POLICIES_SAVED: Kind("/app/administration/user-passphrase-policies"),
    Event.PASSWORD_EXPIRY_SAVED: Kind("/app/administration/password-expiry", params=_OFF),
    Event.PASSWORD_POLICIES_SAVED: Kind("/app/administration/password-policies"),
    Event.RECOVERY_ABORTED: Kind(_USER, "send_admin_user_recover_abort"),
    Event.RECOVERY_COMPLETED: Kind(_PASSWORDS, "send_user_recoverComplete"),
    Event.RECOVERY_COMPLETED_OF_USER: Kind(_USER, "send_admin_user_recover_complete"),
    Event.REGISTERED: Kind(_USER, "send_admin_user_register_complete", frozenset({"first_name"})),
    Event.RESOURCE_CREATED: Kind(_RESOURCE, "send_password_create", _NAME, "resource"),
    Event.RESOURCE_DELETED: Kind(_PASSWORDS, "send_password_delete", _NAME, "resource"),
    Event.RESOURCE_SHARED: Kind(_RESOURCE, "send_password_share", _NAME, "share"),
    Event.RESOURCE_UPDATED: Kind(_RESOURCE, "send_password_update", _NAME, "resource"),
    Event.ROLE_CHANGED: Kind(_PASSWORDS, reach=Reach.INVITED),
    Event.ROLE_CREATED: Kind(_ROLES, params=_NAME),
    Event.ROLE_RENAMED: Kind(_ROLES, params=_NAME | {"before"}),
    Event.SCIM_SETTINGS_SAVED: Kind(_ADMINISTRATION, params=_OFF),
    Event.SECOND_FACTOR_RESET: Kind(_SIGN_IN, reach=Reach.INVITED),
    Event.SELF_REGISTRATION: Kind(
        "/app/administration/self-registration", None, frozenset({"domains"})
    ),
    Event.SERVER_KEY_ANNOUNCED: Kind(_SIGN_IN, params=_FINGERPRINT),
    Event.SERVER_KEY_CHANGED: Kind(_SIGN_IN, params=_FINGERPRINT),
    Event.SERVER_KEY_RETIRED: Kind(_SIGN_IN, params=_FINGERPRINT),
    Event.SETUP_COMPLETED: Kind(_USER, "send_admin_user_setup_completed"),
    Event.SIGN_IN_REFUSED: Kind(_SIGN_IN, params=_SENDER),
    Event.SIGN_IN_REFUSED_OF_USER: Kind(_USER, params=_NAME | _SENDER),
    Event.SMTP_SETTINGS_SAVED: Kind(_ADMINISTRATION, params=_OFF),
    Event.SUSPENDED: Kind(_SIGN_IN, "send_admin_user_disable_admin", _SINCE, reach=Reach.SUSPENDED),
    Event.TOKEN_REUSED: Kind(_SIGN_IN, params=_SENDER),
    Event.TOKEN_REUSED_OF_USER: Kind(_USER, params=_SENDER | {"first_name"}),
    Event.USER_DELETED: Kind(_USERS, "send_group_user_delete", _NAME | {"groups"}, "user-deletion"),
    Event.USER_SUSPENDED: Kind(_USER, "send_admin_user_disable_user", _NAME | _SINCE),
}

OFF = frozenset({"send_password_create", "send_folder_create"})
"""Switches of mails that are off where nobody has said otherwise."""
SHOWN = (
    *("show_comment", "show_description", "show_secret", "show_uri", "show_username"),
    "purify_subject",
)
"""What else administrators may say; it is kept, and all of it is off by default."""
SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(SHOWN, False),
    **{name: name not in OFF for name in sorted({k.switch for k in KINDS.values() if k.switch})},
    **dict.fromkeys(("send_user_create", "send_user_recover"), True),
}
"""All settings of mails, each with what counts where nobody has said otherwise."""
_OF_LINKS = {
    **dict.fromkeys(("invitation", "reminder", "registration"), "send_user_create"),
    "recovery": "send_user_recover",
}
"""The switches of mails that are no notices."""


def is_wanted(template: str, said: Mapping[str, bool]) -> bool:
    """Whether mails of a template are sent, as the settings that were saved say."""
    kind = kind_of(template)
    switch = _OF_LINKS.get(template) if kind is None else kind.switch
    return switch is None or said.get(switch, SWITCHES[switch])


def kind_of(template: str) -> Kind | None:
    """The kind of a template; none of a mail that goes to one address, as an invitation does."""
    return KINDS.get(template)
