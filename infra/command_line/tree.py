"""Every command, by its place: a new one has its line here and its module in `infra/commands`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Union


class Command(NamedTuple):
    about: str
    module: str
    """Has `DETAILS`, `arguments(parser)` and `run(options)`; loaded when the command is given."""


class Group(NamedTuple):
    about: str
    details: str
    places: Mapping[str, Place]


Place = Union[Command, Group]  # noqa: UP007  read by the Pythons that are told they are too old
_ABOUT_INFRA = """\
From the code of Keyhaven to tenants in the cloud.

Every step can be repeated; one that fails says what to do next. `--dry-run` says what a step
would do and does nothing. docs/deploying.md tells the way from nothing to a signed-in client.
"""
_OF_INFRA = {
    "build": "write the code, the layer and the templates into a folder, and check them",
    "check": "check and lint the templates as the code makes them now",
    "plan": "show what a build would change for a tenant",
    "deploy": "set up or update a cell, or one of its tenants",
    "onboard": "make a new tenant, and invite who administers it",
    "release": "bring a build to all tenants, in waves",
    "status": "list the tenants of a cell: state, tier, build, epoch, what is unfinished",
    "restore": "put a tenant back to a moment of the last 35 days, or to copies in the vault",
    "rotate": "change the key that signs a tenant's access tokens",
    "break-glass": "have another administrator, where none can sign in any more",
    "export-logs": "write who did what, for auditors: a line of JSON for each event",
    "export-traces": "send how requests went to a collector of OpenTelemetry",
    "hold": "let no function of a tenant run, in an emergency",
    "wake": "let the functions of a tenant run again",
    "offboard": "switch a tenant off and export it; after thirty days remove its data",
    "cost": "reckon what a tenant costs, idle and for a million requests of each kind",
}
INFRA = Group(
    "bring Keyhaven to the cloud, and look after its tenants there",
    _ABOUT_INFRA,
    {
        name: Command(about, f"infra.commands.{name.replace('-', '_')}")
        for name, about in _OF_INFRA.items()
    },
)
"""Also what `python -m infra` can do."""
_ABOUT_ALL = """\
Keyhaven, a password manager for teams: served on this machine, or brought to the cloud.

It works from any folder; `COMMAND --help` tells more of each.
"""
KEYHAVEN = Group(
    "all there is",
    _ABOUT_ALL,
    {
        "serve": Command(
            "serve Keyhaven on this machine, for trying and developing", "infra.commands.serve"
        ),
        "infra": INFRA,
        "completion": Command(
            "print what lets bash or zsh complete these commands", "infra.commands.completion"
        ),
    },
)


def commands(root: Group, name: str) -> Iterator[tuple[str, Command]]:
    """Every command below a group, by its whole name."""
    for word, place in root.places.items():
        if isinstance(place, Group):
            yield from commands(place, f"{name} {word}")
        else:
            yield f"{name} {word}", place


def groups(root: Group, name: str) -> Iterator[tuple[str, Group]]:
    """The group itself and every group below it, by its whole name."""
    yield name, root
    for word, place in root.places.items():
        if isinstance(place, Group):
            yield from groups(place, f"{name} {word}")
