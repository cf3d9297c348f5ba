"""Tables that a release has made, and that stay when it is taken back: all tables are protected.

CloudFormation can then not delete them, and a stack never makes what is there. So the next release
that wants them takes them in first, with the rows that were written while some requests came there.
"""

from __future__ import annotations

from botocore.exceptions import ClientError

from infra.checks.reading import of_kind
from infra.operate import builds, leftovers
from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.steps import Failed
from infra.operate.tables import table_settings
from infra.template.elements import Json

_TABLE = "DynamoDB::Table"


def take_in(account: Account, entry: Entry, template: Json) -> str:
    """Import what is there and in no stack; what was taken in, if anything was."""
    stack = builds.stack_of(account, entry.tenant)
    held = stack.template()["Resources"]
    left = {
        each: table_settings.name_of(properties, entry.tenant)
        for each, properties in of_kind(template, _TABLE)
        if each not in held
    }
    left = {each: name for each, name in left.items() if leftovers.is_there(account, name)}
    if not left:
        return ""
    resources = {each: template["Resources"][each] for each in left}
    for resource in resources.values():
        _settle(account, entry, resource)
    stack.take_in(resources, left)
    return f"Taken in, as a release that was taken back has left them: {', '.join(left.values())}."


def _settle(account: Account, entry: Entry, resource: Json) -> None:
    """What was to be set once the table was there may have been cut short."""
    name = table_settings.name_of(resource["Properties"], entry.tenant)
    if table_settings.shape(resource["Properties"]) != table_settings.shape_of(account, name):
        raise Failed(
            f"A release that was taken back has left the table {name}, with other keys or indexes "
            f"than this one gives it. Look at its rows; remove it when nobody needs them."
        )
    try:
        table_settings.put_back(account, resource, entry.tenant)
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("AccessDenied", "AccessDeniedException"):
            raise
        raise Failed(
            f"A release that was taken back has left the table {name}, and you may not see to its "
            f"settings: a deployer gives this command."
        ) from error
