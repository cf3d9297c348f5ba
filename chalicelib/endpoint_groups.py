"""Which routes each function serves, and which tables and private keys it may use.

`app.py` imports a group's routes only when it serves that group; `infra/` gives the
group's function the rights named here and no other.
"""

from __future__ import annotations

from enum import Enum

from chalicelib.domain.light import dataclass


class Right(Enum):
    READ = ("GetItem", "BatchGetItem", "Query", "ConditionCheckItem")
    ADD = ("PutItem",)
    CHANGE = ("UpdateItem",)
    REMOVE = ("DeleteItem",)
    WRITE = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
    SCAN = ("Scan",)


OPENPGP_KEY, TOKEN_KEY = "openpgp", "jwt"
PRIVATE_KEYS = frozenset({OPENPGP_KEY, TOKEN_KEY})
"""The server's: what is sealed and signed in OpenPGP, and what signs access tokens."""
OF_SEVERAL_FORMS: frozenset[str] = frozenset()
"""Tables whose rows this release knows in several forms (`storage/forms.py`): whoever reads such a
row may bring it to the form that is written, and the sweeper does so with all of them."""


@dataclass(frozen=True, slots=True)
class EndpointGroup:
    name: str
    modules: tuple[str, ...]
    """Routes modules served by the group's function, each with its wing; of a worker, the one that
    is it."""
    reads: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    """Tables whose rows are written and then left alone, as logs and mails are."""
    changes: frozenset[str] = frozenset()
    """Tables whose rows are changed, and neither made nor removed."""
    removes: frozenset[str] = frozenset()
    """Tables whose rows are removed, and neither made nor changed."""
    writes: frozenset[str] = frozenset()
    scans: frozenset[str] = frozenset()
    """Tables read from end to end, which no request does."""
    avatars: frozenset[str] = frozenset()
    """What the function may do with the objects of avatars."""
    leaves_answers: bool = False
    """Whether an answer too large for the function goes through the bucket: it lists rows."""
    reads_public_keys: bool = False
    """Whether clients send public keys, which OpenPGP's libraries look at."""
    holds_private_keys: bool = False
    opens_sealed: bool = False
    """Whether the function opens what rests sealed: it holds the OpenPGP key, and no other."""
    makes_private_keys: bool = False
    """Whether the function may store them, which it does where there are none."""
    is_scheduled: bool = False
    every: int = 5
    """Minutes between two calls on the schedule."""
    exports_logs: bool = False
    """Whether the function leaves logs in the bucket for auditors, and changes them no more."""
    seconds: int = 240
    """How long a worker may take before its function is cut off."""
    keeps_readings: bool = False
    """Whether the function writes into logs who read what, and says for how long that is kept."""
    asks_directory: bool = False
    """Whether the function asks the company's directory, in the network that leads to it."""
    follows: str | None = None
    """The table whose new rows the function is called with."""
    sends_mails: bool = False
    asks_versions: bool = False
    """Whether the function asks versions of the others before they are released."""

    @property
    def private_keys(self) -> frozenset[str]:
        """Names of the private keys that the function reads."""
        if self.holds_private_keys:
            return PRIVATE_KEYS
        return frozenset({OPENPGP_KEY} if self.opens_sealed else ())

    def rights_to(self, table: str) -> tuple[Right, ...]:
        named = {
            Right.READ: self.reads,
            Right.ADD: self.adds,
            Right.CHANGE: self.changes,
            Right.REMOVE: self.removes,
            Right.WRITE: self.writes,
            Right.SCAN: self.scans,
        }
        rights = [right for right, tables in named.items() if table in tables]
        if table in OF_SEVERAL_FORMS and rights:
            rights.append(Right.CHANGE)
        return tuple(dict.fromkeys(rights))

    def allows(self, action: str, table: str) -> bool:
        return any(action in right.value for right in self.rights_to(table))


_CALLER = frozenset({"users", "tokens", "settings", "operations"})
"""What verifying a caller reads: their row, their session, the public signing keys, and what a
large change that is not yet applied will make of their row."""
_SESSION = frozenset({"tokens"})
"""What a request by cookie writes: its session's idle time."""
_LOG = frozenset({"action_logs"})
"""What is written of a change, by whoever can neither change nor remove it."""
_READINGS = frozenset({"readings"})
"""What is written of secrets that are given to a user, likewise."""
_SEEN = _READINGS | {"secret_accesses"}
"""What is known of who was given which secret, for whoever takes access away."""
_SHARED = frozenset(
    {
        *("resources", "folders", "folder_items", "holdings"),
        *("groups", "memberships", "group_items"),
        *("metadata_keys", "metadata_private_keys", "metadata_uses"),
        "tags",
    }
)
"""What sharing is made of. Whoever changes any of it may have to finish another's large change."""
_LOCKABLE = frozenset({"users", "resources", "folders", "groups", "metadata_keys"})
"""What large changes lock."""
_TOLD = frozenset({"outbox"})
"""Where it is written whom a change is told. So does whoever finishes another's large change."""
_OF_USERS = frozenset({"session_keys"})
"""What is one user's alone and goes with them, by whoever finishes the deletion of a user."""

GROUPS = (
    EndpointGroup(
        "auth",
        modules=("sign_in.auth", "sign_in.mfa", "sign_in.setup", "operator.healthcheck"),
        reads=_CALLER | {"claims", "gpgkeys", "metadata_keys", "metadata_private_keys"},
        adds=_LOG | {"outbox", "gpgkeys", "claims", "metadata_private_keys", "settings"},
        changes=frozenset({"users"}),
        writes=_SESSION,
        holds_private_keys=True,
    ),
    EndpointGroup(
        "users",
        modules=(
            *("users.users", "users.account", "users.gpgkeys", "users.roles", "users.rbacs"),
            *("users.policies", "users.mfa_settings", "users.password_expiry_settings"),
            *("users.notification_settings", "users.settings_pages", "users.self_registration"),
            *("deletion.user_deletion", "directory.scim_settings"),
        ),
        reads=_CALLER | _SHARED | _SEEN | {"claims", "gpgkeys", "session_keys"},
        writes=_SESSION | _SHARED | {"users", "gpgkeys", "claims", "settings", "operations"},
        adds=_LOG | _TOLD,
        removes=_OF_USERS,
        avatars=frozenset({"PutObject", "DeleteObject"}),
        leaves_answers=True,
    ),
    EndpointGroup(
        "resources",
        modules=(
            *("items.resources", "items.resource_types", "items.password_expiry"),
            *("items.share", "items.favorites", "items.comments", "items.tags"),
        ),
        reads=_CALLER | _SHARED | _SEEN | {"comments", "gpgkeys", "claims"},
        adds=_LOG | _READINGS | _TOLD,
        changes=frozenset({"users", "settings"}),
        removes=_OF_USERS | {"claims"},
        writes=_SESSION | _SHARED | {"comments", "operations"},
        leaves_answers=True,
    ),
    EndpointGroup(
        "folders",
        modules=("items.folders", "items.moves"),
        reads=_CALLER | _SHARED | {"gpgkeys", "claims"},
        adds=_LOG | _TOLD,
        changes=frozenset({"users", "settings"}),
        removes=_OF_USERS | {"claims"},
        writes=_SESSION | _SHARED | {"operations"},
        leaves_answers=True,
    ),
    EndpointGroup(
        "metadata",
        modules=(
            *("items.metadata_keys", "items.metadata_settings"),
            *("items.metadata_batches", "items.session_keys"),
        ),
        reads=_CALLER | _SHARED | {"gpgkeys", "claims", "session_keys"},
        adds=_LOG | _TOLD,
        changes=frozenset({"users"}),
        removes=frozenset({"claims"}),
        writes=_SESSION | _SHARED | {"session_keys", "settings", "operations"},
        leaves_answers=True,
    ),
    EndpointGroup(
        "metadata_keys",
        modules=("items.metadata_key_edits",),
        reads=_CALLER | _SHARED | {"gpgkeys", "claims"},
        adds=_LOG | _TOLD,
        changes=frozenset({"users"}),
        removes=_OF_USERS | {"claims"},
        writes=_SESSION | _SHARED | {"settings", "operations"},
        reads_public_keys=True,
    ),
    EndpointGroup(
        "secrets",
        modules=("items.secrets", "items.secret_revisions", "logs.action_logs", "logs.reports"),
        reads=_CALLER
        | {"resources", "holdings", "folders", "groups", "metadata_keys"}
        | {"action_logs", "readings"},
        adds=_READINGS,
        writes=_SESSION,
        leaves_answers=True,
    ),
    EndpointGroup(
        "groups",
        modules=("groups.groups", "deletion.group_deletion"),
        reads=_CALLER | _SHARED | _SEEN | {"claims", "gpgkeys"},
        adds=_LOG | _READINGS | _TOLD,
        changes=frozenset({"users", "settings"}),
        removes=_OF_USERS,
        writes=_SESSION | _SHARED | {"claims", "operations"},
        leaves_answers=True,
    ),
    EndpointGroup(
        "directory",
        modules=(
            *("directory.directory_settings", "directory.directory_sync"),
            "directory.directory_page",
        ),
        reads=_CALLER | _SHARED | _SEEN | _OF_USERS | {"claims", "gpgkeys", "directory_links"},
        adds=_LOG | _TOLD,
        writes=_SESSION
        | _SHARED
        | {"settings", "users", "gpgkeys", "claims", "operations", "directory_links"},
        removes=_OF_USERS,
        avatars=frozenset({"PutObject", "DeleteObject"}),
        leaves_answers=True,
        opens_sealed=True,
        asks_directory=True,
    ),
    EndpointGroup(
        "scim",
        modules=("directory.scim",),
        reads=_CALLER | _SHARED | _SEEN | {"claims", "gpgkeys", "session_keys"},
        adds=_LOG | _TOLD | {"users", "claims", "tokens"},
        changes=frozenset({"settings", "users", "gpgkeys", "tokens"}),
        removes=_OF_USERS | {"claims"},
        writes=_SHARED | {"operations"},
        avatars=frozenset({"PutObject", "DeleteObject"}),
    ),
    EndpointGroup(
        "smtp",
        modules=("operator.smtp_settings",),
        reads=_CALLER,
        adds=_LOG | _TOLD,
        writes=_SESSION | {"settings"},
        opens_sealed=True,
    ),
    EndpointGroup(
        "settings",
        modules=("operator.settings", "operator.pages", "sign_in.mobile_transfers"),
        reads=_CALLER,
        writes=_SESSION,
    ),
    EndpointGroup(
        "public", modules=("operator.public", "users.avatars"), avatars=frozenset({"GetObject"})
    ),
)
CATCH_ALL = "public"
"""The least privileged group: what no endpoint answers goes there."""

WORKERS = (
    EndpointGroup(
        "sweeper",
        modules=("sweeper",),
        adds=_TOLD,
        reads=(_LOCKABLE | _SEEN | {"operations", "action_logs", "settings"}),
        changes=_LOCKABLE | {"secret_accesses", "settings"} | OF_SEVERAL_FORMS,
        removes=_OF_USERS | {"claims"},
        writes=_SHARED - _LOCKABLE | {"operations", "readings", "action_logs"},
        scans=frozenset({"operations", "action_logs"}) | OF_SEVERAL_FORMS,
        avatars=frozenset({"ListBucket", "GetObject", "DeleteObject"}),
        is_scheduled=True,
        keeps_readings=True,
    ),
    EndpointGroup(
        "synchroniser",
        modules=("synchroniser",),
        reads=_CALLER | _SHARED | _SEEN | _OF_USERS | {"claims", "gpgkeys", "directory_links"},
        adds=_LOG | _TOLD | {"users", "claims", "tokens"},
        changes=frozenset({"settings", "users", "gpgkeys", "tokens"}),
        removes=_OF_USERS | {"claims"},
        writes=_SHARED | {"operations", "directory_links"},
        avatars=frozenset({"PutObject", "DeleteObject"}),
        opens_sealed=True,
        asks_directory=True,
        is_scheduled=True,
        every=60,
    ),
    EndpointGroup(
        "founder",
        modules=("founder",),
        reads=frozenset({"settings", "users", "operations", "claims", "metadata_private_keys"}),
        adds=_LOG | {"users", "claims", "outbox"},
        changes=frozenset({"users", "metadata_private_keys"}),
        writes=frozenset({"settings", "tokens"}),
        holds_private_keys=True,
        makes_private_keys=True,
    ),
    EndpointGroup(
        "mailer",
        modules=("mailer",),
        reads=frozenset({"outbox", "users", "memberships", "claims", "settings", "operations"}),
        writes=frozenset({"outbox"}),
        scans=frozenset({"outbox"}),
        follows="outbox",
        sends_mails=True,
        opens_sealed=True,
    ),
    EndpointGroup(
        "exporter",
        modules=("exporter",),
        reads=_READINGS,
        scans=_LOG | {"operations"},
        exports_logs=True,
        seconds=900,
        is_scheduled=True,
        every=60,
    ),
    EndpointGroup("prober", modules=("prober",), is_scheduled=True, asks_versions=True),
)
"""What runs without a request, on a schedule, after a row or called by whoever runs the service:
each a function with rights of its own."""


def served(name: str | None) -> tuple[EndpointGroup, ...]:
    """The group of that name, or every group where no name is given."""
    groups = tuple(group for group in GROUPS if name in (None, group.name))
    if not groups:
        raise ValueError(f"there is no endpoint group {name!r}")
    return groups
