"""What a tenant keeps beside its tables, and how long: key, bucket, secrets, failed calls."""

from __future__ import annotations

from chalicelib.endpoint_groups import OPENPGP_KEY, TOKEN_KEY
from chalicelib.objects.answers import ANSWERS, SECONDS
from chalicelib.objects.exports import EXPORTS
from infra.template.buckets import bucket, only_encrypted_ways
from infra.template.elements import Json, Resources, arn, either, kept, ref, resource, sub

ACCOUNT = "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"
LOGS = (
    "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:/keyhaven/${TenantId}/*"
)
TWO_WEEKS = 14 * 24 * 3600
SECRETS = {"OpenpgpSecret": "the server's OpenPGP key", "JwtSecret": "the key that signs tokens"}

SECRET_OF = {OPENPGP_KEY: "OpenpgpSecret", TOKEN_KEY: "JwtSecret"}
"""Where each private key is."""


def stores() -> Resources:
    return {**_key(), **_bucket(), **_secrets(), **_dead_letters()}


def _key() -> Resources:
    """The key of everything that rests. Its deletion is the end of the tenant's data."""
    key: Json = {
        "Description": sub("Keyhaven, tenant ${TenantId}"),
        "EnableKeyRotation": True,
        "PendingWindowInDays": 30,
        "KeyPolicy": {"Version": "2012-10-17", "Statement": [_account_rules(), _logs_write()]},
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }
    alias: Json = {"AliasName": sub("alias/keyhaven/${TenantId}"), "TargetKeyId": ref("TenantKey")}
    return {"TenantKey": kept("KMS::Key", key), "TenantKeyAlias": resource("KMS::Alias", alias)}


def _account_rules() -> Json:
    """Let the account's own policies decide; without this, nobody could ever change the key."""
    return {
        "Sid": "Account",
        "Effect": "Allow",
        "Principal": {"AWS": sub(ACCOUNT)},
        "Action": "kms:*",
        "Resource": "*",
    }


def _logs_write() -> Json:
    return {
        "Sid": "Logs",
        "Effect": "Allow",
        "Principal": {"Service": sub("logs.${AWS::Region}.amazonaws.com")},
        "Action": [
            "kms:Encrypt",
            "kms:Decrypt",
            "kms:ReEncryptFrom",
            "kms:ReEncryptTo",
            "kms:GenerateDataKey",
            "kms:DescribeKey",
        ],
        "Resource": "*",
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": sub(LOGS)}},
    }


def _bucket() -> Resources:
    """Objects: avatars, answers too large for a function, and logs for auditors."""
    by_tenant_key = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn("TenantKey")}
    objects = bucket(
        _bucket_name(),
        {"BucketKeyEnabled": True, "ServerSideEncryptionByDefault": by_tenant_key},
        LifecycleConfiguration={
            "Rules": [_as_long_as_tables(), _exports_for_their_days(), _answers_for_a_day()]
        },
        CorsConfiguration={"CorsRules": [_who_is_led_here()]},
        Tags=[{"Key": "tenant", "Value": ref("TenantId")}],
    )
    return {"Objects": objects, "ObjectsPolicy": only_encrypted_ways("Objects")}


def _bucket_name() -> Json:
    """In all accounts and regions there is one of a name. Older tenants keep theirs."""
    plain = "keyhaven-${TenantId}-${AWS::AccountId}"
    return either("HasRegionInName", sub(f"{plain}-${{AWS::Region}}"), sub(plain))


def _as_long_as_tables() -> Json:
    """What was replaced or removed can be had back for as long as rows can."""
    return {
        "Id": "recovery",
        "Status": "Enabled",
        "NoncurrentVersionExpiration": {"NoncurrentDays": 35},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
    }


def _answers_for_a_day() -> Json:
    """The shortest S3 knows; their addresses are good for a minute. The shorter of two rules wins.

    A day later an answer cannot be read any more, and another day later it is gone.
    """
    return {
        "Id": "answers",
        "Status": "Enabled",
        "Prefix": f"{ANSWERS}/",
        "ExpirationInDays": 1,
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
    }


def _exports_for_their_days() -> Json:
    return {
        "Id": "exports",
        "Status": "Enabled",
        "Prefix": f"{EXPORTS}/",
        "ExpirationInDays": ref("LogExportDays"),
        "NoncurrentVersionExpiration": {"NoncurrentDays": 35},
    }


def _who_is_led_here() -> Json:
    """Pages that ask the API and are led here, with the headers they have sent it.

    A browser says `null` for all that do not come from the API's own address, as those of
    extensions, once it has followed from one host to another. What one may read is decided by
    the signed address, never by where its reader comes from: the bucket knows no cookie.
    """
    return {
        "AllowedOrigins": [_origin_of("BaseUrl"), "null"],
        "AllowedMethods": ["GET"],
        "AllowedHeaders": ["*"],
        "MaxAge": SECONDS,
    }


def _origin_of(parameter: str) -> Json:
    """An address without its path."""
    parts = {"Fn::Split": ["/", ref(parameter)]}
    named = {"Scheme": {"Fn::Select": [0, parts]}, "Host": {"Fn::Select": [2, parts]}}
    return {"Fn::Sub": ["${Scheme}//${Host}", named]}


def _secrets() -> Resources:
    """Places for the private keys. Their values are made at onboarding, inside the account.

    Another region may have replicas, which Secrets Manager keeps the same.
    """
    replica = {"Region": ref("OtherRegion"), "KmsKeyId": ref("OtherRegionKey")}
    return {
        name: kept(
            "SecretsManager::Secret",
            {
                "Name": sub(f"keyhaven/${{TenantId}}/{name}"),
                "Description": about,
                "KmsKeyId": arn("TenantKey"),
                "ReplicaRegions": either("HasOtherRegion", [replica]),
                "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
            },
        )
        for name, about in SECRETS.items()
    }


def _dead_letters() -> Resources:
    """Where the calls of workers go that have failed."""
    queue: Json = {
        "MessageRetentionPeriod": TWO_WEEKS,
        "KmsMasterKeyId": ref("TenantKey"),
        "Tags": [{"Key": "tenant", "Value": ref("TenantId")}],
    }
    return {"DeadLetters": resource("SQS::Queue", queue)}
