"""What `python -m infra` can do, told by the standard library alone.

So its help can be read where nothing is installed yet.
"""

from __future__ import annotations

import argparse

COMMANDS = {
    "build": "write the code, the layer and the templates into a folder, and check them",
    "check": "check and lint the templates as the code makes them now",
    "plan": "show what a build would change for a tenant",
    "deploy": "set up or update a cell, or one of its tenants",
    "onboard": "make a new tenant, and invite who administers it",
    "release": "bring a build to all tenants, in waves",
    "status": "list the tenants of a cell: state, tier, build, epoch, what is unfinished",
    "restore": "put a tenant back to a moment of the last 35 days",
    "rotate": "change the key that signs a tenant's access tokens",
    "offboard": "export a tenant and switch it off; after thirty days remove its data",
    "cost": "reckon what a tenant costs, idle and for a million requests of each kind",
}
"""What each is for; `infra/commands` has a module of each name."""
_ABOUT = """\
From the code of Keyhaven to tenants in the cloud.

Every step can be repeated; one that fails says what to do next. `--dry-run` says what a step
would do and does nothing. docs/deploying.md tells the way from nothing to a signed-in client.
"""
_PLAIN = argparse.RawDescriptionHelpFormatter


def parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of all commands, and that of each, which knows no arguments yet."""
    whole = argparse.ArgumentParser(
        prog="python -m infra", description=_ABOUT, formatter_class=_PLAIN
    )
    places = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    each = {
        name: places.add_parser(name, help=about, description=about, formatter_class=_PLAIN)
        for name, about in COMMANDS.items()
    }
    return whole, each
