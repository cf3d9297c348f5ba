"""What IAM is asked about a call to S3: rights to buckets and objects, and to a tenant's key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.infra_cloud.given.authorization import Authorization, using_key
from tests.support.iam import ACCOUNT

Params = Mapping[str, Any]
_OF_TENANTS, _OF_CODE = "keyhaven-", "keyhaven-code-"
"""How buckets begin: objects of tenants are under the tenant's key, code is under S3's own."""
_USES = {"s3:GetObject": "Decrypt", "s3:PutObject": "GenerateDataKey"}
"""What S3 does with an object's key for whoever reads or writes the object."""
_CONDITIONS = {"Prefix": "s3:prefix", "IfNoneMatch": "s3:if-none-match"}


def of_objects(action: str, params: Params) -> Iterator[Authorization]:
    bucket, key = params["Bucket"], params.get("Key")
    if action == "s3:DeleteObjects":
        for each in params["Delete"]["Objects"]:
            yield from _of_object("s3:DeleteObject", {"Bucket": bucket, **each})
    elif action == "s3:CopyObject":
        yield from _of_object("s3:GetObject", params["CopySource"])
        yield from _of_object("s3:PutObject", params)
    elif key is not None:
        yield from _of_object(action, params)
    else:
        yield Authorization(action, _arn(bucket), _context(params))


def _of_object(action: str, params: Params) -> Iterator[Authorization]:
    bucket, on = params["Bucket"], _arn(params["Bucket"], params["Key"])
    version = "Version" if params.get("VersionId") else ""
    yield Authorization(action.replace("Object", f"Object{version}", 1), on, _context(params))
    if action == "s3:GetObject":
        # or S3 refuses what is not there, and says no more
        yield Authorization("s3:ListBucket", _arn(bucket))
    if action == "s3:PutObject":
        yield from _given(on, params)
    if _is_tenants(bucket) and (use := _USES.get(action)):
        yield using_key("s3", use)


def _given(on: str, params: Params) -> Iterator[Authorization]:
    """What an object is given while it is written."""
    if any(name == "ACL" or name.startswith("Grant") for name in params):
        yield Authorization("s3:PutObjectAcl", on)
    if "Tagging" in params:
        yield Authorization("s3:PutObjectTagging", on)


def _is_tenants(bucket: str) -> bool:
    return bucket.startswith(_OF_TENANTS) and not bucket.startswith(_OF_CODE)


def _context(params: Params) -> tuple[tuple[str, str], ...]:
    """All buckets of the mock are the account's own."""
    given = ((key, params[named]) for named, key in _CONDITIONS.items() if named in params)
    return ("s3:ResourceAccount", ACCOUNT), *given


def _arn(bucket: str, key: str | None = None) -> str:
    return f"arn:aws:s3:::{bucket}" if key is None else f"arn:aws:s3:::{bucket}/{key}"
