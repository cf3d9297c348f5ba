"""A tenant of a region that is gone, made in another one: with its private keys, and without rows.

Those come from the vault, by a restore. The keys lie here as replicas of two secrets. They become
secrets of their own, and the stack begins with them: one that exists is imported, never created.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.checks.reading import of_kind
from infra.operate import builds, leftovers, table_settings
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
        self._remove_left_tables()
        return self._change(self._parameters())

    def _remove_left_tables(self) -> None:
        """They are protected, so those that a try has made stay when it is taken back, empty."""
        tables = of_kind(self._stack.template(), "DynamoDB::Table")
        held = {table_settings.name_of(each, self._entry.tenant) for _, each in tables}
        there = [name for _, name in leftovers.tables(self._account, self._entry.tenant)]
        left = [name for name in there if name not in held]
        client = self._account.client("dynamodb")
        counts = {
            name: client.describe_table(TableName=name)["Table"]["ItemCount"] for name in left
        }
        if filled := [name for name, count in counts.items() if count]:
            raise Failed(
                f"These tables have rows and belong to no stack: {', '.join(filled)}. Look at "
                f"them, and remove them when nobody needs them."
            )
        leftovers.remove_tables(self._account, left)

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
