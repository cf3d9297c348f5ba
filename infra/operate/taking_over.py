"""A tenant of a region that is gone, made in another one: with its private keys, and without rows.

Those come from the vault, by a restore. The keys lie here as replicas of two secrets. They become
secrets of their own, and the stack begins with them: one that exists is imported, never created.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.checks.reading import of_kind
from infra.operate import builds, leftovers
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.onboarding import Onboarding
from infra.operate.registry import Entry
from infra.operate.steps import Failed, Step
from infra.template.elements import Json
from infra.template.stores import SECRETS

_SET_LATER = ("KmsKeyId", "ReplicaRegions")
"""Properties that name what the stack does not have before it has the secrets."""


def steps(account: Account, build: Build, entry: Entry, *, instead: bool = False) -> list[Step]:
    new = _TakingOver(account, build, entry, instead=instead)
    return [
        Step("reserve the name", new.reserve),
        Step("begin the stack with the replicas of the private keys", new.take_over),
        Step("create all else of the stack", new.create),
        Step("tell the functions their address", new.address),
        Step("publish the keys", new.keys),
        Step("see that it answers", new.smoke),
        Step("write down that it is active", new.activate),
    ]


class _TakingOver(Onboarding):
    verb = "take over"

    def take_over(self) -> str:
        """No replica is promoted before both are seen. A stack without them is in the way."""
        secrets = {name: self._seen(name) for name in SECRETS}
        self._account.until(lambda: not self._stack.status().endswith("_IN_PROGRESS"))
        if self._has_begun():
            return "It has begun."
        self._stack.delete()
        for secret in secrets.values():
            self._promote(secret)
        self._begin_with({name: str(secret["ARN"]) for name, secret in secrets.items()})
        return f"{len(secrets)} secrets."

    def create(self) -> str:
        """No key is removed for another try, as at an onboarding: there are no others."""
        if left := self._left_tables():
            self._require_empty(left)
            print(f"    An earlier try has left these, which are removed: {', '.join(left)}.")
            leftovers.remove_tables(self._account, left)
        return self._change(self._parameters())

    def _left_tables(self) -> list[str]:
        """Those of a try that CloudFormation has taken back stay, as they are protected."""
        if [*of_kind(self._stack.template(), "DynamoDB::Table")]:
            return []  # it has tables, so what else there is comes from something else
        there = leftovers.tables(self._account, self._entry.tenant)
        return [name for epoch, name in there if epoch == self._entry.epoch]

    def _require_empty(self, tables: list[str]) -> None:
        """Nobody has used a tenant before it is made; what the tables tell of rows is hours old."""
        client = self._account.client("dynamodb")
        there = [name for name in tables if leftovers.status(client, name) != "DELETING"]
        if filled := [name for name in there if _has_rows(client, name)]:
            raise Failed(
                f"Nothing is removed: these tables belong to no stack and have rows: "
                f"{', '.join(filled)}. Find out what they are; once nobody needs them, take their "
                f"protection and remove them by hand."
            )

    def _has_begun(self) -> bool:
        """An import that was undone leaves a stack too, which never gets secrets that exist."""
        if self._stack.find() is None or self._stack.was_not_made():
            return False
        return self._stack.resources("SecretsManager::Secret").keys() >= SECRETS.keys()

    def _begin_with(self, places: Mapping[str, str]) -> None:
        parameters = self._parameters()
        whole = builds.template_of(self._entry, self._build, parameters)
        imported = [
            {
                "ResourceType": "AWS::SecretsManager::Secret",
                "LogicalResourceId": name,
                "ResourceIdentifier": {"Id": place},
            }
            for name, place in places.items()
        ]
        bucket = builds.platform_outputs(self._account)["CodeBucket"]
        changes = self._stack.changes(
            _of_secrets(whole), parameters, bucket=bucket, imported=imported
        )
        if changes is not None:
            self._stack.apply(changes)

    def _seen(self, name: str) -> Json:
        """A secret, a replica or one of its own already."""
        said = f"keyhaven/{self._entry.tenant}/{name}"
        try:
            secret = self._secrets.describe_secret(SecretId=said)
        except self._secrets.exceptions.ResourceNotFoundException:
            secret = {}
        if not secret.get("VersionIdsToStages") or "DeletedDate" in secret:
            raise Failed(f"There is no replica of {said} in {self._account.region}, with a value.")
        return dict(secret)

    def _promote(self, secret: Json) -> None:
        if secret.get("PrimaryRegion", self._account.region) != self._account.region:
            self._secrets.stop_replication_to_replica(SecretId=secret["Name"])

    @property
    def _secrets(self) -> Any:
        return self._account.client("secretsmanager")


def _of_secrets(template: Json) -> Json:
    resources = {}
    for name in SECRETS:
        secret = template["Resources"][name]
        properties = {
            each: value for each, value in secret["Properties"].items() if each not in _SET_LATER
        }
        resources[name] = {**secret, "Properties": properties}
    return {
        **{name: value for name, value in template.items() if name != "Outputs"},
        "Resources": resources,
    }


def _has_rows(client: Any, table: str) -> bool:
    return bool(client.scan(TableName=table, Limit=1, ConsistentRead=True)["Items"])
