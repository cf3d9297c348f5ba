"""Buckets: closed to the public, with one owner, and keeping what is written over."""

from __future__ import annotations

from typing import Any

from infra.template.elements import Json, arn, kept, ref, sub


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


def only_encrypted_ways(name: str) -> Json:
    """The policy of a bucket that refuses whoever comes without TLS."""
    refused: Json = {
        "Sid": "OnlyTls",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn(name), sub(f"${{{name}.Arn}}/*")],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    policy: Json = {
        "Bucket": ref(name),
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [refused]},
    }
    return kept("S3::BucketPolicy", policy)
