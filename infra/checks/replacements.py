"""What a change of a template would take from whoever stores in it: tables, keys, and what they
hold.

CloudFormation makes another table, bucket or key where the name or the keys of one change, and
leads the functions there: to an empty one. What was kept lies beside it, and nothing leads back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infra.template.elements import Json

_WHAT_IT_IS: Mapping[str, tuple[str, ...]] = {
    "DynamoDB::Table": ("TableName", "KeySchema", "LocalSecondaryIndexes", "SSESpecification"),
    "KMS::Key": ("KeySpec", "KeyUsage", "MultiRegion", "Origin"),
    "S3::Bucket": ("BucketName", "BucketEncryption"),
    "SecretsManager::Secret": ("Name", "KmsKeyId"),
}
"""What makes each kind this one and no other, and by which key it is read."""
KINDS = frozenset(f"AWS::{kind}" for kind in _WHAT_IT_IS)


def refusals(old: Json, new: Json) -> list[str]:
    """A sentence for each table, key, bucket or secret that is replaced, changed or left behind."""
    before, after = old["Resources"], new["Resources"]
    return [
        fault
        for name in sorted(before)
        if before[name]["Type"] in KINDS
        for fault in _faults(name, before[name], after.get(name))
    ]


def _faults(name: str, old: Json, new: Json | None) -> Iterator[str]:
    kind = old["Type"].removeprefix("AWS::")
    if new is None or new["Type"] != old["Type"]:
        yield f"{name} ({kind}) would leave the stack, with what it holds."
        return
    before, after = old["Properties"], new["Properties"]
    for place in _WHAT_IT_IS[kind]:
        if before.get(place) != after.get(place):
            yield f"{name} ({kind}) would be another: its {place} changes."
    if _key_types(before) != _key_types(after):
        yield f"{name} ({kind}) would be another: the type of its key changes."


def _key_types(table: Json) -> dict[str, str]:
    keys = {each["AttributeName"] for each in table.get("KeySchema", ())}
    return {
        each["AttributeName"]: each["AttributeType"]
        for each in table.get("AttributeDefinitions", ())
        if each["AttributeName"] in keys
    }
