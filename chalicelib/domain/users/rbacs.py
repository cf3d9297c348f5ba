"""Role-based access control: what a role other than `admin` may do and see, one by one.

What clients show is for them to hide; what is an action, the service refuses.
"""

from __future__ import annotations

from typing import Literal

from chalicelib.domain.ids import RbacId, RoleId, UserId, named_id
from chalicelib.domain.light import dataclass

ALLOW = "Allow"
DENY = "Deny"
IF_MANAGER = "AllowIfGroupManagerInOneGroup"
CONTROL_FUNCTIONS = (ALLOW, DENY, IF_MANAGER)


@dataclass(frozen=True, slots=True)
class Controlled:
    """What roles are allowed or denied."""

    id: str
    name: str
    foreign_model: Literal["UiAction", "Action"]
    default: str
    control_functions: tuple[str, ...] = (ALLOW, DENY)

    @property
    def is_shown(self) -> bool:
        """Whether it is something that clients show."""
        return self.foreign_model == "UiAction"


@dataclass(frozen=True, slots=True)
class Rbac:
    """What a role is allowed or denied of one thing; moments as texts."""

    role_id: RoleId
    controlled: Controlled
    control_function: str
    created: str
    modified: str
    modified_by: UserId | None = None

    @property
    def id(self) -> RbacId:
        return RbacId(named_id(f"rbacs.id.{self.role_id}.{self.controlled.name}"))


def _shown(name: str, *further: str) -> Controlled:
    id_ = named_id(f"ui-actions.id.{name}")
    return Controlled(id_, name, "UiAction", ALLOW, (ALLOW, DENY, *further))


def _action(name: str) -> Controlled:
    """By the identifier that answers have of it (`header.action`)."""
    return Controlled(named_id(name), name, "Action", DENY)


GROUPS_ADD = _action("GroupsAdd.addPost")
UI_ACTIONS = (
    *map(_shown, ("Resources.import", "Resources.export", "Resources.seeActivities")),
    *map(_shown, ("Resources.seeComments", "Resources.toggleDescription")),
    *map(_shown, ("Resources.filterByGroups", "Resources.editPasswordGeneratorSettings")),
    *map(_shown, ("Secrets.preview", "Secrets.copy", "Folders.use", "Folders.share", "Tags.use")),
    *map(_shown, ("Share.viewList", "Share.viewUsersInAutocomplete")),
    *map(_shown, ("Share.viewGroupsInAutocomplete", "InFormMenu.use")),
    _shown("Users.viewWorkspace", IF_MANAGER),
    *map(_shown, ("Users.viewGroups", "Mobile.transfer", "Desktop.transfer")),
)
ACTIONS = (
    _action("AccountRecoveryRequestsIndex.index"),
    _action("AccountRecoveryRequestsView.view"),
    _action("AccountRecoveryResponsesCreate.post"),
    GROUPS_ADD,
)
"""Clients expect those of account recovery, which has no endpoints here."""
CONTROLLED = (*UI_ACTIONS, *ACTIONS)
