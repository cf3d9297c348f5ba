"""Buckets: closed to the public, with one owner, and keeping what is written over."""

from __future__ import annotations

from typing import Any

from infra.template.elements import Json, kept


def bucket(name: Json, encryption: Json, **further: Any) -> Json:
    """A bucket that encrypts in this way by itself."""
    closed = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    properties: Json = {
        "BucketName": name,
        "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
        "PublicAccessBlockConfiguration": dict.fromkeys(closed, True),
        "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        "VersioningConfiguration": {"Status": "Enabled"},
        **further,
    }
    return kept("S3::Bucket", properties)
