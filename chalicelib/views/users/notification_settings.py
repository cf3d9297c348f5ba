"""How the settings of mails look to clients, and on their page."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.domain.operator.notices import SWITCHES
from chalicelib.tables.settings import Setting, value_of
from chalicelib.views import fields

_LABELS: Mapping[str, Mapping[str, str]] = {
    "Links": {
        "send_user_create": "To people who are invited or register: how to set up their account",
        "send_user_recover": "To people who have lost their device: how to recover their account",
    },
    "Accounts": {
        "send_user_recoverComplete": "To people whose account was recovered",
        "send_admin_user_disable_admin": "To administrators who are suspended themselves",
        "send_admin_user_register_complete": "To administrators, when somebody registers",
        "send_admin_user_setup_completed": "To administrators, when an account is set up",
        "send_admin_user_recover_complete": "To administrators, when an account is recovered",
        "send_admin_user_recover_abort": "To administrators, when somebody cannot recover theirs",
        "send_admin_user_disable_user": "To administrators, when an account is suspended",
    },
    "Passwords": {
        "send_password_create": "To whoever adds a password",
        "send_password_share": "To people a password is shared with",
        "send_password_update": "To people with access, when a password is changed",
        "send_password_delete": "To people with access, when a password is deleted",
        "send_password_expire": "To owners, when a password expires",
        "send_comment_add": "To people with access, when somebody comments on a password",
    },
    "Folders": {
        "send_folder_create": "To whoever adds a folder",
        "send_folder_share": "To people a folder is shared with",
        "send_folder_update": "To people with access, when a folder is renamed",
        "send_folder_delete": "To people with access, when a folder or its content is deleted",
    },
    "Groups": {
        "send_group_user_add": "To people who are added to a group",
        "send_group_user_update": "To members whose role in a group changes",
        "send_group_user_delete": "To people removed from a group, to managers of deleted members",
        "send_group_delete": "To members, when a group is deleted",
        "send_group_manager_update": "To managers, when another changes the members of a group",
        "send_group_manager_requestAddUser": "To managers, when the directory has new members",
    },
}
"""What each switch of a mail is called, in groups. The others do nothing (ADR 43)."""


def settings(row: Setting | None) -> dict[str, bool]:
    """All switches, and where their values come from."""
    return {**SWITCHES, **value_of(row), "sources_database": row is not None, "sources_file": False}


def switches(row: Setting | None) -> str:
    """A box for each mail, ticked where it is sent, as HTML."""
    said = {**SWITCHES, **value_of(row)}
    return "\n".join(
        fields.fieldset(legend, *(fields.box(name, label, said) for name, label in labels.items()))
        for legend, labels in _LABELS.items()
    )
