"""Faults somebody could make in a tenant's template, each with what finds it.

Those of the design's list come first; general linters miss a third of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Template = dict[str, Any]
INTEGRATION = "x-amazon-apigateway-integration"
SECRET_PATH = "/secrets/resource/{resource_id}"


@dataclass(frozen=True)
class Fault:
    make: Callable[[Template], object]
    found: str
    """Part of the sentence that tells of it."""


def resources(template):
    return template["Resources"]


def properties(template, name):
    return resources(template)[name]["Properties"]


def first(template, kind):
    return next(each for each in resources(template).values() if each["Type"] == f"AWS::{kind}")


def stage(template):
    return properties(template, "Stage")


def method(template, path=SECRET_PATH, name="get"):
    return properties(template, "Api")["Body"]["paths"][path][name]


def lead_to(template, alias):
    uri = method(template)[INTEGRATION]["uri"]
    uri["Fn::Sub"] = uri["Fn::Sub"].replace("SecretsAlias", alias)


def statements(template, role="SecretsRole"):
    return properties(template, role)["Policies"][0]["PolicyDocument"]["Statement"]


def allow(template, action, on, role="SecretsRole"):
    statements(template, role).append({"Effect": "Allow", "Action": [action], "Resource": [on]})


def sending(template):
    return next(each for each in statements(template, "MailerRole") if "ses" in str(each["Action"]))


def leaving(template):
    return next(
        each for each in statements(template, "ResourcesRole") if "s3" in str(each["Action"])
    )


def cross_origin(template):
    return properties(template, "Objects")["CorsConfiguration"]["CorsRules"][0]


def mapping(template):
    return properties(template, "MailerFunctionStream")


def tell(template, name, value, function="SecretsFunction"):
    properties(template, function)["Environment"]["Variables"][name] = value


OBJECTS_OF_ANSWERS = {"Fn::Sub": "${Objects.Arn}/answers/*"}
ARN_OF_USERS = {"Fn::GetAtt": ["UsersTable1", "Arn"]}
ARN_OF_CLAIMS = {"Fn::GetAtt": ["ClaimsTable1", "Arn"]}
ARN_OF_OUTBOX = {"Fn::GetAtt": ["OutboxTable1", "Arn"]}
STREAM_OF_OUTBOX = {"Fn::GetAtt": ["OutboxTable1", "StreamArn"]}
PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"

FAULTS = {
    # of the design
    "wildcard action": Fault(
        lambda t: allow(t, "dynamodb:*", "*"), "may do whatever dynamodb:* means"
    ),
    "mistyped action": Fault(
        lambda t: statements(t)[0]["Action"].append("dynamodb:GetItems"), "may GetItems on"
    ),
    "foreign service": Fault(
        lambda t: allow(t, "s3:GetObject", {"Fn::GetAtt": ["Objects", "Arn"]}),
        "may s3:GetObject, of a service it has no use for",
    ),
    "literal name": Fault(
        lambda t: allow(t, "dynamodb:GetItem", "arn:aws:dynamodb:eu-west-1:123456789012:table/x"),
        "names something of one account",
    ),
    "no recovery": Fault(
        lambda t: properties(t, "ResourcesTable1").pop("PointInTimeRecoverySpecification"),
        "ResourcesTable1 cannot be had back",
    ),
    "no deletion protection": Fault(
        lambda t: properties(t, "ResourcesTable1").pop("DeletionProtectionEnabled"),
        "ResourcesTable1 can be deleted",
    ),
    "no retention": Fault(
        lambda t: resources(t)["ResourcesTable1"].pop("DeletionPolicy"),
        "ResourcesTable1 goes when the stack goes",
    ),
    "table not encrypted": Fault(
        lambda t: properties(t, "ResourcesTable1").pop("SSESpecification"),
        "ResourcesTable1 is not encrypted",
    ),
    "secret not encrypted": Fault(
        lambda t: properties(t, "JwtSecret").pop("KmsKeyId"), "JwtSecret is not encrypted"
    ),
    "no access log": Fault(lambda t: stage(t).pop("AccessLogSetting"), "There is no access log"),
    "bodies in the log": Fault(
        lambda t: stage(t)["MethodSettings"][0].update(DataTraceEnabled=True),
        "Bodies of * /* are logged",
    ),
    "no throttle": Fault(
        lambda t: stage(t)["MethodSettings"][0].pop("ThrottlingRateLimit"), "not throttled"
    ),
    "no permission to call": Fault(
        lambda t: resources(t).pop("SecretsFunctionPermission"), "may not call SecretsAlias"
    ),
    "called by everybody": Fault(
        lambda t: properties(t, "SecretsFunctionPermission").pop("SourceArn"),
        "lets others call than who it is for",
    ),
    "name of nothing": Fault(
        lambda t: tell(t, "TABLE_PREFIX", {"Ref": "Tabels"}), "names Tabels, which does not exist"
    ),
    "old runtime": Fault(
        lambda t: properties(t, "SecretsFunction").update(Runtime="python3.9"),
        "SecretsFunction runs on python3.9",
    ),
    "circle": Fault(
        lambda t: resources(t)["ResourcesTable1"].update(DependsOn=["SecretsRole"]),
        "Each needs the other before it",
    ),
    "route to another function": Fault(
        lambda t: lead_to(t, "SettingsAlias"),
        f"get {SECRET_PATH} is of secrets and leads to settings",
    ),
    "route to nowhere": Fault(
        lambda t: lead_to(t, "NobodyAlias"), f"get {SECRET_PATH} is of secrets and leads to None"
    ),
    "key not rotated": Fault(
        lambda t: properties(t, "TenantKey").update(EnableKeyRotation=False), "is never rotated"
    ),
    "secret in the environment": Fault(
        lambda t: tell(t, "JWT_SECRET", PRIVATE_KEY, "AuthFunction"), "told JWT_SECRET in clear"
    ),
    "log kept for ever": Fault(
        lambda t: properties(t, "AuthLogs").pop("RetentionInDays"), "AuthLogs is not kept for"
    ),
    "route without a function": Fault(
        lambda t: method(t).pop(INTEGRATION), f"get {SECRET_PATH} is of secrets and leads to None"
    ),
    # further ones
    "missing method": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"][SECRET_PATH].pop("head"),
        f"{SECRET_PATH} has other methods",
    ),
    "missing path": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"].pop(SECRET_PATH),
        f"{SECRET_PATH} is not served",
    ),
    "catch-all with rights": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"].update(
            {"/{proxy+}": properties(t, "Api")["Body"]["paths"][SECRET_PATH]}
        ),
        "get /{proxy+} is of None and leads to secrets",
    ),
    "method of no route": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"][SECRET_PATH].update(
            patch=method(t, SECRET_PATH, "get")
        ),
        f"patch {SECRET_PATH} is of None and leads to secrets",
    ),
    "path of no route": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"].update({"/debug": {}}),
        "/debug is served, but no route",
    ),
    "every body is base64": Fault(
        lambda t: properties(t, "Api")["Body"]["x-amazon-apigateway-binary-media-types"].append(
            "*/*"
        ),
        "sent as base64",
    ),
    "query in the log": Fault(
        lambda t: stage(t)["AccessLogSetting"].update(Format='{"path": "$context.path"}'),
        "The access log shows $context.path",
    ),
    "sign-in not bounded": Fault(
        lambda t: stage(t)["MethodSettings"].pop(), "is not throttled by itself"
    ),
    "refusal without headers": Fault(
        lambda t: properties(t, "Api")["Body"]["x-amazon-apigateway-gateway-responses"][
            "THROTTLED"
        ].update(responseParameters={}),
        "THROTTLED is answered without Cache-Control",
    ),
    "refusal of the gateway's own": Fault(
        lambda t: properties(t, "Api")["Body"]["x-amazon-apigateway-gateway-responses"].pop(
            "DEFAULT_4XX"
        ),
        "DEFAULT_4XX is answered in the gateway's own words",
    ),
    "another's table": Fault(
        lambda t: allow(t, "dynamodb:PutItem", ARN_OF_CLAIMS), "secrets may PutItem on ClaimsTable1"
    ),
    "missing right": Fault(
        lambda t: statements(t)[0]["Action"].remove("dynamodb:Query"), "secrets may not Query on"
    ),
    "scan": Fault(
        lambda t: allow(t, "dynamodb:Scan", ARN_OF_USERS), "secrets may Scan on UsersTable1"
    ),
    "everything": Fault(lambda t: allow(t, "kms:Decrypt", "*"), "may kms:Decrypt on everything"),
    "key by itself": Fault(
        lambda t: allow(t, "kms:Decrypt", {"Fn::GetAtt": ["TenantKey", "Arn"]}),
        "may use the tenant's key by itself",
    ),
    "private key for all": Fault(
        lambda t: allow(t, "secretsmanager:GetSecretValue", {"Ref": "JwtSecret"}),
        "secrets may read JwtSecret",
    ),
    "no private key": Fault(
        lambda t: statements(t, "AuthRole").__delitem__(
            next(n for n, s in enumerate(statements(t, "AuthRole")) if "secret" in str(s["Action"]))
        ),
        "auth may read no private key",
    ),
    "private keys replaced": Fault(
        lambda t: allow(t, "secretsmanager:PutSecretValue", {"Ref": "JwtSecret"}, "AuthRole"),
        "auth may replace private keys",
    ),
    "shared role": Fault(
        lambda t: properties(t, "SecretsFunction").update(
            Role={"Fn::GetAtt": ["ResourcesRole", "Arn"]}
        ),
        "ResourcesRole is the role of 2 functions",
    ),
    "no bound": Fault(
        lambda t: properties(t, "SecretsRole").pop("PermissionsBoundary"),
        "SecretsRole has no bound",
    ),
    "policy from elsewhere": Fault(
        lambda t: properties(t, "SecretsRole").update(
            ManagedPolicyArns=[{"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/ReadOnlyAccess"}]
        ),
        "SecretsRole has policies that are written elsewhere",
    ),
    "unknown setting": Fault(lambda t: tell(t, "DEBUG", "on"), "told DEBUG, which nothing reads"),
    "secret's value": Fault(
        lambda t: properties(t, "JwtSecret").update(SecretString="s3cret"),
        "JwtSecret has its value in the template",
    ),
    "value from elsewhere": Fault(
        lambda t: properties(t, "Stage").update(
            Variables={"key": "{{resolve:secretsmanager:jwt}}"}
        ),
        "holds what looks like a secret",
    ),
    "handler of nothing": Fault(
        lambda t: properties(t, "SweeperFunction").update(
            Handler="chalicelib.workers.nobody.handler"
        ),
        "which is not in the bundle",
    ),
    "missing function": Fault(
        lambda t: resources(t).pop("SettingsFunction"), "There are functions for"
    ),
    "no log": Fault(
        lambda t: properties(t, "SecretsFunction").pop("LoggingConfig"), "has no log of its own"
    ),
    "release without an alarm": Fault(
        lambda t: properties(t, "SecretsFunctionRelease").pop("AlarmConfiguration"),
        "no alarm ends a release",
    ),
    "release at once": Fault(
        lambda t: resources(t)["SecretsAlias"].pop("UpdatePolicy"),
        "SecretsAlias is released at once",
    ),
    "missing table": Fault(
        lambda t: resources(t).pop("UsersTable1"), "The table users is only in the code"
    ),
    "table of nobody": Fault(
        lambda t: properties(t, "UsersTable1")["TableName"].update(
            {"Fn::Sub": "keyhaven-${TenantId}-1-people"}
        ),
        "The table people is only in the template",
    ),
    "another key": Fault(
        lambda t: properties(t, "HoldingsTable1")["KeySchema"].reverse(),
        "The table holdings has the key",
    ),
    "missing index": Fault(
        lambda t: properties(t, "HoldingsTable1")["LocalSecondaryIndexes"].pop(),
        "The table holdings has the indexes",
    ),
    "rows that stay": Fault(
        lambda t: properties(t, "TokensTable1").pop("TimeToLiveSpecification"),
        "The table tokens has rows that expire by None",
    ),
    "open bucket": Fault(
        lambda t: properties(t, "Objects")["PublicAccessBlockConfiguration"].update(
            BlockPublicPolicy=False
        ),
        "Objects may be opened to everybody",
    ),
    "answers read by others": Fault(
        lambda t: allow(t, "s3:GetObject", OBJECTS_OF_ANSWERS, "PublicRole"),
        "public may GetObject large answers",
    ),
    "all objects": Fault(
        lambda t: allow(t, "s3:DeleteObject", {"Fn::Sub": "${Objects.Arn}/*"}, "ResourcesRole"),
        "resources may DeleteObject large answers",
    ),
    "answers nobody may read": Fault(
        lambda t: leaving(t)["Action"].remove("s3:GetObject"),
        "resources may not GetObject large answers",
    ),
    "answers stay": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"].pop(),
        "Objects keeps large answers",
    ),
    "answers stay as versions": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"][-1].pop(
            "NoncurrentVersionExpiration"
        ),
        "Objects keeps large answers",
    ),
    "objects for every page": Fault(
        lambda t: cross_origin(t).update(AllowedOrigins=["*"]), "Objects answers to every page"
    ),
    "objects written by pages": Fault(
        lambda t: cross_origin(t)["AllowedMethods"].append("PUT"), "Objects lets pages do more"
    ),
    "stream of whole rows": Fault(
        lambda t: properties(t, "OutboxTable1")["StreamSpecification"].update(
            StreamViewType="NEW_IMAGE"
        ),
        "OutboxTable1 has a stream of NEW_IMAGE",
    ),
    "stream of nobody": Fault(
        lambda t: properties(t, "UsersTable1").update(
            StreamSpecification={"StreamViewType": "KEYS_ONLY"}
        ),
        "UsersTable1 has a stream of KEYS_ONLY",
    ),
    "all streams": Fault(
        lambda t: allow(t, "dynamodb:ListStreams", ARN_OF_OUTBOX, "MailerRole"),
        "mailer may read streams that are none of a table's",
    ),
    "another's stream": Fault(
        lambda t: allow(t, "dynamodb:GetRecords", STREAM_OF_OUTBOX),
        "secrets may GetRecords on OutboxTable1",
    ),
    "mails call nobody": Fault(
        lambda t: resources(t).pop("MailerFunctionStream"), "0 workers are called with new rows"
    ),
    "mails call another": Fault(
        lambda t: mapping(t).update(FunctionName={"Ref": "SweeperAlias"}),
        "MailerFunctionStream calls who does not follow outbox",
    ),
    "called when mails go": Fault(
        lambda t: mapping(t).pop("FilterCriteria"), "calls with more than new rows"
    ),
    "failures pass for done": Fault(
        lambda t: mapping(t).pop("FunctionResponseTypes"), "takes what is to be tried again for"
    ),
    "one holds back others": Fault(
        lambda t: mapping(t).update(BisectBatchOnFunctionError=False),
        "lets one row hold back a batch",
    ),
    "tried for ever": Fault(
        lambda t: mapping(t).update(MaximumRetryAttempts=-1), "tries without end"
    ),
    "given up early": Fault(
        lambda t: mapping(t).update(MaximumRetryAttempts=1_000), "gives up before the day is over"
    ),
    "tried for days": Fault(
        lambda t: mapping(t).update(MaximumRecordAgeInSeconds=-1), "tries without end"
    ),
    "failures forgotten": Fault(lambda t: mapping(t).pop("DestinationConfig"), "forgets what"),
    "mails by another": Fault(
        lambda t: allow(t, "ses:SendEmail", {"Ref": "MailSender"}), "secrets may send mails"
    ),
    "mails in any name": Fault(
        lambda t: sending(t).pop("Condition"), "mailer may send mails in any name"
    ),
    "mails of any identity": Fault(
        lambda t: sending(t).update(
            Resource=[{"Fn::Sub": "arn:${AWS::Partition}:ses:*:*:identity/*"}]
        ),
        "mailer may send mails in any name",
    ),
    "no mails": Fault(
        lambda t: statements(t, "MailerRole").remove(sending(t)), "mailer may not send mails"
    ),
    "too many roles": Fault(
        lambda t: resources(t).update({f"Role{n}": first(t, "IAM::Role") for n in range(20)}),
        "tenants fit a cell: IAM roles",
    ),
}
