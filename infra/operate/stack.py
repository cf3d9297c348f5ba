"""A stack, changed by change sets: what will change is known before anything does."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from infra.checks.deployers import LARGEST_INLINE
from infra.checks.replacements import KINDS
from infra.operate.account import Account
from infra.operate.steps import Failed
from infra.template.cell.tenants_role import ROLE
from infra.template.elements import Json, compact, digest

CREATE, UPDATE, IMPORT = "CREATE", "UPDATE", "IMPORT"
_GOOD = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"})
_NEVER_WAS = frozenset({"REVIEW_IN_PROGRESS"})
_NOT_MADE = frozenset({"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"})
_NOT_HELD = frozenset({"DELETE_COMPLETE", "IMPORT_FAILED", "IMPORT_ROLLBACK_COMPLETE"})
"""States of a resource that a stack lists, and does not have."""
_UNCHANGED = ("didn't contain changes", "No updates are to be performed")
_TAGS = [{"Key": "service", "Value": "keyhaven"}]


@dataclass(frozen=True, slots=True)
class Change:
    action: str
    """`Add`, `Modify`, `Remove` or `Import`."""
    name: str
    kind: str
    replaces: str = "False"

    @property
    def takes_data(self) -> bool:
        """Whether something that is stored in is replaced, or leaves."""
        is_replaced = self.action == "Modify" and self.replaces == "True"
        return self.kind in KINDS and (is_replaced or self.action == "Remove")

    def __str__(self) -> str:
        note = {"True": ", replaced", "Conditional": ", perhaps replaced"}.get(self.replaces, "")
        return f"{self.action:<7} {self.name} ({self.kind.removeprefix('AWS::')}{note})"


@dataclass(frozen=True, slots=True)
class ChangeSet:
    id: str
    kind: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    account: Account
    name: str
    cell: str = ""
    """The stack whose output is the role that CloudFormation takes for this one, if it has one."""

    def find(self) -> Json | None:
        """The stack as CloudFormation describes it, if there is one."""
        try:
            [found] = self._client.describe_stacks(StackName=self.name)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        status = found["StackStatus"]
        return None if status in _NEVER_WAS or status == "DELETE_COMPLETE" else dict(found)

    def status(self) -> str:
        found = self.find()
        return "" if found is None else str(found["StackStatus"])

    def was_not_made(self) -> bool:
        """Whether its creation has failed: such a stack can only be deleted."""
        return self.status() in _NOT_MADE

    def outputs(self) -> dict[str, str]:
        found = self.find()
        if found is None:
            raise Failed(f"There is no stack {self.name}.")
        return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}

    def parameters(self) -> dict[str, str]:
        """As they were given last."""
        described = (self.find() or {}).get("Parameters", ())
        return {each["ParameterKey"]: each["ParameterValue"] for each in described}

    def template(self) -> Json:
        """The template that is deployed."""
        body = self._client.get_template(StackName=self.name, TemplateStage="Original")
        return dict(body["TemplateBody"])

    def resources(self, kind: str) -> dict[str, str]:
        """What a kind of resources is called in the account, by logical name.

        One that was never made has no name there, and is left out, as is one whose import was
        undone.
        """
        listed = self.account.pages(
            "cloudformation",
            "list_stack_resources",
            "StackResourceSummaries",
            StackName=self.name,
        )
        return {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for each in listed
            if each["ResourceType"] == f"AWS::{kind}"
            and each.get("PhysicalResourceId")
            and each["ResourceStatus"] not in _NOT_HELD
        }

    def functions(self) -> dict[str, str]:
        return self.resources("Lambda::Function")

    def changes(
        self,
        template: Json,
        parameters: Mapping[str, str],
        *,
        bucket: str | None = None,
        imported: Iterable[Json] = (),
    ) -> ChangeSet | None:
        """What this template would change; nothing where it would change nothing."""
        to_import = list(imported)
        kind = IMPORT if to_import else UPDATE if self.find() else CREATE
        made = self._client.create_change_set(
            StackName=self.name,
            ChangeSetName=f"k{digest(template, dict(parameters))}-{time.time_ns()}",
            ChangeSetType=kind,
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in sorted(parameters.items())
            ],
            Tags=_TAGS,
            **self._role(),
            **self._sent(template, bucket),
            **({"ResourcesToImport": to_import} if to_import else {}),
        )["Id"]
        described = self._described(made)
        if described["Status"] == "FAILED":
            self.drop(made, kind)
            if any(told in described.get("StatusReason", "") for told in _UNCHANGED):
                return None
            raise Failed(f"CloudFormation refuses the change: {described.get('StatusReason')}")
        return ChangeSet(made, kind, tuple(self._listed(made)))

    def apply(self, changes: ChangeSet) -> None:
        """Carry out changes, tell of the progress, and raise `Failed` when they are undone.

        What a failed change has made is removed, also where it would be kept later.
        """
        seen = {each["EventId"] for each in self._events()} if changes.kind != CREATE else set()
        further = {} if changes.kind == IMPORT else {"RetainExceptOnCreate": True}
        self._client.execute_change_set(StackName=self.name, ChangeSetName=changes.id, **further)
        failures = self._follow(seen, len(changes.changes))
        if not self.rests():
            raise Failed("\n".join([f"The stack {self.name} is {self.status()}:", *failures]))
        self._protect(is_on=True)

    def take_in(self, tables: Json, named: Mapping[str, str]) -> None:
        """Import tables that are there, as a stack never makes those; nothing else changes."""
        deployed = self.template()
        imported = [
            {
                "ResourceType": "AWS::DynamoDB::Table",
                "LogicalResourceId": each,
                "ResourceIdentifier": {"TableName": name},
            }
            for each, name in named.items()
        ]
        self.change({**deployed, "Resources": {**deployed["Resources"], **tables}}, imported)

    def change(self, template: Json, imported: Iterable[Json] = ()) -> None:
        """Bring a tenant's stack to a template, with the parameters that were given last."""
        parameters = self.parameters()
        changes = self.changes(
            template, parameters, bucket=parameters["CodeBucket"], imported=imported
        )
        if changes is not None:
            self.apply(changes)

    def drop(self, change_set: str, kind: str) -> None:
        """Forget changes that are not carried out, and the empty stack they were to make."""
        self._client.delete_change_set(StackName=self.name, ChangeSetName=change_set)
        if kind == CREATE:
            self._client.delete_stack(StackName=self.name, **self._role())

    def delete(self) -> None:
        """Delete the stack; what is kept by its template stays in the account."""
        found = self.find()
        if found is None:
            return
        if found.get("EnableTerminationProtection"):
            self._protect(is_on=False)
        stack_id = self.find_id()
        self._client.delete_stack(StackName=self.name, **self._role())
        self.account.until(lambda: not self.status().endswith("_IN_PROGRESS"))
        if self.find() is not None:
            raise Failed(f"The stack {self.name} ({stack_id}) is {self.status()}.")

    def rests(self) -> bool:
        """Whether its last change came to a good end."""
        return self.status() in _GOOD

    def find_id(self) -> str:
        found = self.find()
        return "" if found is None else str(found["StackId"])

    def _protect(self, *, is_on: bool) -> None:
        """Only the command whose work it is deletes a stack, and says so first."""
        self._client.update_termination_protection(
            StackName=self.name, EnableTerminationProtection=is_on
        )

    @property
    def _client(self) -> Any:
        return self.account.client("cloudformation")

    def _role(self) -> Json:
        """Nothing where there is no role: then it is done with the rights of whoever asks."""
        outputs = Stack(self.account, self.cell).outputs() if self.cell else {}
        return {"RoleARN": outputs[ROLE]} if ROLE in outputs else {}

    def _sent(self, template: Json, bucket: str | None) -> Json:
        body = compact(template)
        if len(body.encode()) <= LARGEST_INLINE:
            return {"TemplateBody": body}
        if bucket is None:
            raise Failed("The template is too large to be sent without a bucket.")
        key, s3 = f"templates/{digest(template)}.json", self.account.client("s3")
        s3.put_object(Bucket=bucket, Key=key, Body=body.encode())
        return {"TemplateURL": f"{s3.meta.endpoint_url}/{bucket}/{key}"}

    def _described(self, change_set: str) -> Json:
        """The change set once CloudFormation has worked it out."""
        while True:
            described = self._client.describe_change_set(
                StackName=self.name, ChangeSetName=change_set
            )
            if described["Status"] not in ("CREATE_PENDING", "CREATE_IN_PROGRESS"):
                return dict(described)
            self.account.pause(2)

    def _listed(self, change_set: str) -> Iterator[Change]:
        listed = self.account.pages(
            "cloudformation",
            "describe_change_set",
            "Changes",
            StackName=self.name,
            ChangeSetName=change_set,
        )
        for each in listed:
            change = each["ResourceChange"]
            yield Change(
                change["Action"],
                change["LogicalResourceId"],
                change["ResourceType"],
                change.get("Replacement", "False"),
            )

    def _follow(self, seen: set[str], changes: int) -> list[str]:
        """Tell of the progress until the stack rests; return what has failed, first one first."""
        failures: list[str] = []
        done = 0
        while True:
            rests = not self.status().endswith("_IN_PROGRESS")
            for event in self._events():
                if event["EventId"] not in seen:
                    seen.add(event["EventId"])
                    done += event["ResourceStatus"].endswith("_COMPLETE")
                    failures += _failure(event)
            print(f"    {self.status()}: {done} done, {changes} to be changed", flush=True)
            if rests:
                return failures
            self.account.pause(10)

    def _events(self) -> list[Json]:
        """Oldest first."""
        return list(
            self.account.pages(
                "cloudformation", "describe_stack_events", "StackEvents", StackName=self.name
            )
        )[::-1]


def _failure(event: Json) -> list[str]:
    reason = str(event.get("ResourceStatusReason", ""))
    if not event["ResourceStatus"].endswith("_FAILED") or "cancelled" in reason:
        return []
    return [f"  {event['LogicalResourceId']}: {reason}"]
