"""Faults somebody could make in a template, each with what finds it.

Those of the design's list come first; general linters miss a third of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from infra.checks import (
    Check,
    alarms,
    deployers,
    firewall,
    functions,
    gateway,
    mails,
    objects,
    quotas,
    references,
    rests,
    rights,
    shapes,
    trust,
)
from infra.template.cell.firewall import path_has

Template = dict[str, Any]
INTEGRATION = "x-amazon-apigateway-integration"
SECRET_PATH = "/secrets/resource/{resource_id}"


@dataclass(frozen=True)
class Fault:
    make: Callable[[Template], object]
    found: str
    """Part of the sentence that tells of it."""
    by: Check
    """The one check that tells of it."""


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


def sender(template):
    return properties(template, "SenderIdentity")


def told_of_mails(template):
    return properties(template, "SenderEvents")["EventDestination"]


def leaving(template):
    return next(
        each for each in statements(template, "ResourcesRole") if "s3" in str(each["Action"])
    )


def exporting(template):
    return next(
        each for each in statements(template, "ExporterRole") if each["Action"] == ["s3:PutObject"]
    )


def cross_origin(template):
    return properties(template, "Objects")["CorsConfiguration"]["CorsRules"][0]


def mapping(template):
    return properties(template, "MailerFunctionStream")


def coming(template):
    """What is said of who may come to a private API."""
    return properties(template, "Api")["Body"]["x-amazon-apigateway-policy"]["Fn::If"][1]


def tell(template, name, value, function="SecretsFunction"):
    properties(template, function)["Environment"]["Variables"][name] = value


def trusting(template, role="SecretsRole"):
    return properties(template, role)["AssumeRolePolicyDocument"]["Statement"][0]


def allowing(template, policy, action):
    """The statement of a policy of the cell that allows an action."""
    document = properties(template, policy)["PolicyDocument"]
    return next(each for each in document["Statement"] if action in each.get("Action", ()))


def of_tokens(template, make):
    """Make a fault in the trust of CI's role, which is a text."""
    role = properties(template, "CiRole")
    document = json.loads(role["AssumeRolePolicyDocument"]["Fn::Sub"])
    make(document["Statement"][0])
    role["AssumeRolePolicyDocument"] = {"Fn::Sub": json.dumps(document)}


def further(template, policy, action, on):
    """Allow something more."""
    statement = {"Effect": "Allow", "Action": [action], "Resource": [on]}
    properties(template, policy)["PolicyDocument"]["Statement"].append(statement)


def rule(template, number):
    return properties(template, "Firewall")["Rules"][number]


OBJECTS_OF_ANSWERS = {"Fn::Sub": "${Objects.Arn}/answers/*"}
OBJECTS_OF_EXPORTS = {"Fn::Sub": "${Objects.Arn}/audit/*"}
ARN_OF_USERS = {"Fn::GetAtt": ["UsersTable1", "Arn"]}
ARN_OF_CLAIMS = {"Fn::GetAtt": ["ClaimsTable1", "Arn"]}
ARN_OF_OUTBOX = {"Fn::GetAtt": ["OutboxTable1", "Arn"]}
STREAM_OF_OUTBOX = {"Fn::GetAtt": ["OutboxTable1", "StreamArn"]}
PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"

FAULTS = {
    # of the design
    "wildcard action": Fault(
        lambda t: allow(t, "dynamodb:*", "*"),
        "may do whatever dynamodb:* means",
        rights.nothing_else_is_allowed,
    ),
    "mistyped action": Fault(
        lambda t: statements(t)[0]["Action"].append("dynamodb:GetItems"),
        "may GetItems on",
        rights.rows_are_those_of_the_group,
    ),
    "foreign service": Fault(
        lambda t: allow(t, "sns:Publish", {"Fn::GetAtt": ["Objects", "Arn"]}),
        "may sns:Publish, of a service it has no use for",
        rights.nothing_else_is_allowed,
    ),
    "literal name": Fault(
        lambda t: allow(t, "dynamodb:GetItem", "arn:aws:dynamodb:eu-west-1:123456789012:table/x"),
        "names something of one account",
        references.nothing_names_an_account,
    ),
    "no recovery": Fault(
        lambda t: properties(t, "ResourcesTable1").pop("PointInTimeRecoverySpecification"),
        "ResourcesTable1 cannot be had back",
        rests.tables_stay,
    ),
    "no deletion protection": Fault(
        lambda t: properties(t, "ResourcesTable1").pop("DeletionProtectionEnabled"),
        "ResourcesTable1 can be deleted",
        rests.tables_stay,
    ),
    "no retention": Fault(
        lambda t: resources(t)["ResourcesTable1"].pop("DeletionPolicy"),
        "ResourcesTable1 goes when the stack goes",
        rests.tables_stay,
    ),
    "table not encrypted": Fault(
        lambda t: properties(t, "ResourcesTable1").pop("SSESpecification"),
        "ResourcesTable1 is not encrypted",
        rests.all_that_rests_is_encrypted,
    ),
    "secret not encrypted": Fault(
        lambda t: properties(t, "JwtSecret").pop("KmsKeyId"),
        "JwtSecret is not encrypted",
        rests.all_that_rests_is_encrypted,
    ),
    "no access log": Fault(
        lambda t: stage(t).pop("AccessLogSetting"),
        "There is no access log",
        gateway.bodies_stay_unseen,
    ),
    "bodies in the log": Fault(
        lambda t: stage(t)["MethodSettings"][0].update(DataTraceEnabled=True),
        "Bodies of * /* are logged",
        gateway.bodies_stay_unseen,
    ),
    "no throttle": Fault(
        lambda t: stage(t)["MethodSettings"][0].pop("ThrottlingRateLimit"),
        "not throttled",
        gateway.requests_are_bounded,
    ),
    "no permission to call": Fault(
        lambda t: resources(t).pop("SecretsFunctionPermission"),
        "may not call SecretsAlias",
        gateway.functions_may_be_called,
    ),
    "called by everybody": Fault(
        lambda t: properties(t, "SecretsFunctionPermission").pop("SourceArn"),
        "lets others call than who it is for",
        gateway.functions_may_be_called,
    ),
    "name of nothing": Fault(
        lambda t: tell(t, "TABLE_PREFIX", {"Ref": "Tabels"}),
        "names Tabels, which does not exist",
        references.everything_named_exists,
    ),
    "old runtime": Fault(
        lambda t: properties(t, "SecretsFunction").update(Runtime="python3.9"),
        "SecretsFunction runs on python3.9",
        functions.functions_run_what_was_tested,
    ),
    "circle": Fault(
        lambda t: resources(t)["ResourcesTable1"].update(DependsOn=["SecretsRole"]),
        "Each needs the other before it",
        references.nothing_goes_in_circles,
    ),
    "route to another function": Fault(
        lambda t: lead_to(t, "SettingsAlias"),
        f"get {SECRET_PATH} is of secrets and leads to settings",
        gateway.every_route_leads_to_its_function,
    ),
    "route to nowhere": Fault(
        lambda t: lead_to(t, "NobodyAlias"),
        f"get {SECRET_PATH} is of secrets and leads to None",
        gateway.every_route_leads_to_its_function,
    ),
    "key not rotated": Fault(
        lambda t: properties(t, "TenantKey").update(EnableKeyRotation=False),
        "is never rotated",
        rests.all_that_rests_is_encrypted,
    ),
    "replicas under another key": Fault(
        lambda t: properties(t, "JwtSecret")["ReplicaRegions"]["Fn::If"][1][0].pop("KmsKeyId"),
        "JwtSecret has other replicas",
        rests.replicas_are_encrypted,
    ),
    "secret in the environment": Fault(
        lambda t: tell(t, "JWT_SECRET", PRIVATE_KEY, "AuthFunction"),
        "told JWT_SECRET in clear",
        functions.no_secret_is_told,
    ),
    "log kept for ever": Fault(
        lambda t: properties(t, "AuthLogs").pop("RetentionInDays"),
        "AuthLogs is not kept for",
        rests.logs_are_kept_for_a_time,
    ),
    "route without a function": Fault(
        lambda t: method(t).pop(INTEGRATION),
        f"get {SECRET_PATH} is of secrets and leads to None",
        gateway.every_route_leads_to_its_function,
    ),
    # further ones
    "missing method": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"][SECRET_PATH].pop("head"),
        f"{SECRET_PATH} has other methods",
        gateway.nothing_else_is_served,
    ),
    "missing path": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"].pop(SECRET_PATH),
        f"{SECRET_PATH} is not served",
        gateway.nothing_else_is_served,
    ),
    "catch-all with rights": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"].update(
            {"/{proxy+}": properties(t, "Api")["Body"]["paths"][SECRET_PATH]}
        ),
        "get /{proxy+} is of None and leads to secrets",
        gateway.every_route_leads_to_its_function,
    ),
    "method of no route": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"][SECRET_PATH].update(
            patch=method(t, SECRET_PATH, "get")
        ),
        f"patch {SECRET_PATH} is of None and leads to secrets",
        gateway.every_route_leads_to_its_function,
    ),
    "path of no route": Fault(
        lambda t: properties(t, "Api")["Body"]["paths"].update({"/debug": {}}),
        "/debug is served, but no route",
        gateway.nothing_else_is_served,
    ),
    "every body is base64": Fault(
        lambda t: properties(t, "Api")["Body"]["x-amazon-apigateway-binary-media-types"].append(
            "*/*"
        ),
        "sent as base64",
        gateway.nothing_else_is_served,
    ),
    "addresses in traces": Fault(
        lambda t: stage(t).update(TracingEnabled=True),
        "Traces of the stage hold addresses",
        gateway.bodies_stay_unseen,
    ),
    "query in the log": Fault(
        lambda t: stage(t)["AccessLogSetting"].update(Format='{"path": "$context.path"}'),
        "The access log shows $context.path",
        gateway.bodies_stay_unseen,
    ),
    "sign-in not bounded": Fault(
        lambda t: stage(t)["MethodSettings"].pop(),
        "is not throttled by itself",
        gateway.requests_are_bounded,
    ),
    "refusal without headers": Fault(
        lambda t: properties(t, "Api")["Body"]["x-amazon-apigateway-gateway-responses"][
            "THROTTLED"
        ].update(responseParameters={}),
        "THROTTLED is answered without Cache-Control",
        gateway.refusals_wear_the_envelope,
    ),
    "refusal of the gateway's own": Fault(
        lambda t: properties(t, "Api")["Body"]["x-amazon-apigateway-gateway-responses"].pop(
            "DEFAULT_4XX"
        ),
        "DEFAULT_4XX is answered in the gateway's own words",
        gateway.refusals_wear_the_envelope,
    ),
    "another's table": Fault(
        lambda t: allow(t, "dynamodb:PutItem", ARN_OF_CLAIMS),
        "secrets may PutItem on ClaimsTable1",
        rights.rows_are_those_of_the_group,
    ),
    "missing right": Fault(
        lambda t: statements(t)[0]["Action"].remove("dynamodb:Query"),
        "secrets may not Query on",
        rights.rows_are_those_of_the_group,
    ),
    "scan": Fault(
        lambda t: allow(t, "dynamodb:Scan", ARN_OF_USERS),
        "secrets may Scan on UsersTable1",
        rights.rows_are_those_of_the_group,
    ),
    "everything": Fault(
        lambda t: allow(t, "kms:Decrypt", "*"),
        "may kms:Decrypt on everything",
        rights.nothing_else_is_allowed,
    ),
    "key by itself": Fault(
        lambda t: allow(t, "kms:Decrypt", {"Fn::GetAtt": ["TenantKey", "Arn"]}),
        "may use the tenant's key by itself",
        rights.keys_are_read_by_few,
    ),
    "private key for all": Fault(
        lambda t: allow(t, "secretsmanager:GetSecretValue", {"Ref": "JwtSecret"}),
        "secrets may read JwtSecret",
        rights.keys_are_read_by_few,
    ),
    "no private key": Fault(
        lambda t: statements(t, "AuthRole").__delitem__(
            next(n for n, s in enumerate(statements(t, "AuthRole")) if "secret" in str(s["Action"]))
        ),
        "auth may read no private key",
        rights.keys_are_read_by_few,
    ),
    "private keys replaced": Fault(
        lambda t: allow(t, "secretsmanager:PutSecretValue", {"Ref": "JwtSecret"}, "AuthRole"),
        "auth may replace private keys",
        rights.keys_are_read_by_few,
    ),
    "in the company's network": Fault(
        lambda t: properties(t, "SecretsFunction").update(VpcConfig={"SubnetIds": []}),
        "secrets is in the company's network, and asks no directory",
        rights.networks_are_of_who_asks,
    ),
    "no way to the directory": Fault(
        lambda t: properties(t, "DirectoryFunction").pop("VpcConfig"),
        "directory asks a directory, and is in no network",
        rights.networks_are_of_who_asks,
    ),
    "rights beside a role": Fault(
        lambda t: properties(t, "DirectoryNetwork").update(Roles=[{"Ref": "SecretsRole"}]),
        "DirectoryNetwork gives rights to roles, beside their own",
        rights.networks_are_of_who_asks,
    ),
    "interfaces for code": Fault(
        lambda t: properties(t, "DirectoryNetwork")["PolicyDocument"]["Statement"].pop(),
        "DirectoryNetwork allows what a function in a network does not need",
        rights.networks_are_of_who_asks,
    ),
    "shared role": Fault(
        lambda t: properties(t, "SecretsFunction").update(
            Role={"Fn::GetAtt": ["ResourcesRole", "Arn"]}
        ),
        "ResourcesRole is the role of 2 functions",
        rights.roles_are_their_functions_own,
    ),
    "no bound": Fault(
        lambda t: properties(t, "SecretsRole").pop("PermissionsBoundary"),
        "SecretsRole has no bound",
        rights.roles_are_their_functions_own,
    ),
    "policy from elsewhere": Fault(
        lambda t: properties(t, "SecretsRole").update(
            ManagedPolicyArns=[{"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/ReadOnlyAccess"}]
        ),
        "SecretsRole has policies that are written elsewhere",
        rights.roles_are_their_functions_own,
    ),
    "unknown setting": Fault(
        lambda t: tell(t, "DEBUG", "on"),
        "told DEBUG, which nothing reads",
        functions.settings_are_those_the_code_reads,
    ),
    "secret's value": Fault(
        lambda t: properties(t, "JwtSecret").update(SecretString="s3cret"),
        "JwtSecret has its value in the template",
        functions.no_secret_is_told,
    ),
    "value from elsewhere": Fault(
        lambda t: properties(t, "Stage").update(
            Variables={"key": "{{resolve:secretsmanager:jwt}}"}
        ),
        "holds what looks like a secret",
        functions.no_secret_is_told,
    ),
    "handler of nothing": Fault(
        lambda t: properties(t, "SweeperFunction").update(
            Handler="chalicelib.workers.nobody.handler"
        ),
        "which is not in the bundle",
        functions.functions_run_what_was_tested,
    ),
    "missing function": Fault(
        lambda t: resources(t).pop("SettingsFunction"),
        "There are functions for",
        functions.functions_run_what_was_tested,
    ),
    "no log": Fault(
        lambda t: properties(t, "SecretsFunction").pop("LoggingConfig"),
        "has no log of its own",
        functions.functions_run_what_was_tested,
    ),
    "release without an alarm": Fault(
        lambda t: properties(t, "SecretsFunctionRelease").pop("AlarmConfiguration"),
        "no alarm ends a release",
        functions.releases_go_back,
    ),
    "release at once": Fault(
        lambda t: resources(t)["SecretsAlias"].pop("UpdatePolicy"),
        "SecretsAlias is released at once",
        functions.releases_go_back,
    ),
    "missing table": Fault(
        lambda t: resources(t).pop("UsersTable1"),
        "The table users is only in the code",
        rests.tables_are_those_of_the_code,
    ),
    "table of nobody": Fault(
        lambda t: properties(t, "UsersTable1")["TableName"].update(
            {"Fn::Sub": "keyhaven-${TenantId}-1-people"}
        ),
        "The table people is only in the template",
        rests.tables_are_those_of_the_code,
    ),
    "another key": Fault(
        lambda t: properties(t, "HoldingsTable1")["KeySchema"].reverse(),
        "The table holdings has the key",
        rests.tables_are_those_of_the_code,
    ),
    "missing index": Fault(
        lambda t: properties(t, "HoldingsTable1")["LocalSecondaryIndexes"].pop(),
        "The table holdings has the indexes",
        rests.tables_are_those_of_the_code,
    ),
    "rows that stay": Fault(
        lambda t: properties(t, "TokensTable1").pop("TimeToLiveSpecification"),
        "The table tokens has rows that expire by None",
        rests.tables_are_those_of_the_code,
    ),
    "open bucket": Fault(
        lambda t: properties(t, "Objects")["PublicAccessBlockConfiguration"].update(
            BlockPublicPolicy=False
        ),
        "Objects may be opened to everybody",
        rests.buckets_are_closed,
    ),
    "answers read by others": Fault(
        lambda t: allow(t, "s3:GetObject", OBJECTS_OF_ANSWERS, "PublicRole"),
        "public may GetObject large answers",
        objects.answers_are_left_by_who_lists,
    ),
    "all objects": Fault(
        lambda t: allow(t, "s3:DeleteObject", {"Fn::Sub": "${Objects.Arn}/*"}, "ResourcesRole"),
        "resources may DeleteObject large answers",
        objects.answers_are_left_by_who_lists,
    ),
    "answers nobody may read": Fault(
        lambda t: leaving(t)["Action"].remove("s3:GetObject"),
        "resources may not GetObject large answers",
        objects.answers_are_left_by_who_lists,
    ),
    "exports read by others": Fault(
        lambda t: allow(t, "s3:GetObject", OBJECTS_OF_EXPORTS, "SecretsRole"),
        "secrets: GetObject on logs for auditors",
        objects.exports_are_left_by_one,
    ),
    "exports removed by who leaves them": Fault(
        lambda t: allow(t, "s3:DeleteObject", OBJECTS_OF_EXPORTS, "ExporterRole"),
        "exporter: DeleteObject on logs for auditors",
        objects.exports_are_left_by_one,
    ),
    "exports nobody may leave": Fault(
        lambda t: exporting(t).update(Action=["s3:GetObject"]),
        "exporter: PutObject on logs for auditors",
        objects.exports_are_left_by_one,
    ),
    "exports go": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"][0].update(
            ExpirationInDays=30
        ),
        "the rule recovery removes logs for auditors",
        objects.exports_stay,
    ),
    "logs of the gateway's own": Fault(
        lambda t: stage(t)["MethodSettings"][0].update(LoggingLevel="ERROR"),
        "The gateway logs its own work",
        gateway.bodies_stay_unseen,
    ),
    "answers stay": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"].pop(),
        "Objects keeps large answers",
        objects.answers_go_after_a_day,
    ),
    "answers stay as versions": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"][-1].pop(
            "NoncurrentVersionExpiration"
        ),
        "Objects keeps large answers",
        objects.answers_go_after_a_day,
    ),
    "objects for every page": Fault(
        lambda t: cross_origin(t).update(AllowedOrigins=["*"]),
        "Objects answers to every page",
        objects.pages_only_read,
    ),
    "objects written by pages": Fault(
        lambda t: cross_origin(t)["AllowedMethods"].append("PUT"),
        "Objects lets pages do more",
        objects.pages_only_read,
    ),
    "stream of whole rows": Fault(
        lambda t: properties(t, "OutboxTable1")["StreamSpecification"].update(
            StreamViewType="NEW_IMAGE"
        ),
        "OutboxTable1 has a stream of NEW_IMAGE",
        mails.streams_are_of_what_is_followed,
    ),
    "stream of nobody": Fault(
        lambda t: properties(t, "UsersTable1").update(
            StreamSpecification={"StreamViewType": "KEYS_ONLY"}
        ),
        "UsersTable1 has a stream of KEYS_ONLY",
        mails.streams_are_of_what_is_followed,
    ),
    "all streams": Fault(
        lambda t: allow(t, "dynamodb:ListStreams", ARN_OF_OUTBOX, "MailerRole"),
        "mailer may read streams that are none of a table's",
        mails.streams_are_of_what_is_followed,
    ),
    "another's stream": Fault(
        lambda t: allow(t, "dynamodb:GetRecords", STREAM_OF_OUTBOX),
        "secrets may GetRecords on OutboxTable1",
        rights.rows_are_those_of_the_group,
    ),
    "mails call nobody": Fault(
        lambda t: resources(t).pop("MailerFunctionStream"),
        "0 workers are called with new rows",
        mails.new_rows_call_who_follows,
    ),
    "mails call another": Fault(
        lambda t: mapping(t).update(FunctionName={"Ref": "SweeperAlias"}),
        "MailerFunctionStream calls who does not follow outbox",
        mails.new_rows_call_who_follows,
    ),
    "called when mails go": Fault(
        lambda t: mapping(t).pop("FilterCriteria"),
        "calls with more than new rows",
        mails.new_rows_call_who_follows,
    ),
    "failures pass for done": Fault(
        lambda t: mapping(t).pop("FunctionResponseTypes"),
        "takes what is to be tried again for",
        mails.new_rows_call_who_follows,
    ),
    "one holds back others": Fault(
        lambda t: mapping(t).update(BisectBatchOnFunctionError=False),
        "lets one row hold back a batch",
        mails.new_rows_call_who_follows,
    ),
    "tried for ever": Fault(
        lambda t: mapping(t).update(MaximumRetryAttempts=-1),
        "tries without end",
        mails.new_rows_call_who_follows,
    ),
    "given up early": Fault(
        lambda t: mapping(t).update(MaximumRetryAttempts=1_000),
        "gives up before the day is over",
        mails.new_rows_call_who_follows,
    ),
    "tried for days": Fault(
        lambda t: mapping(t).update(MaximumRecordAgeInSeconds=-1),
        "tries without end",
        mails.new_rows_call_who_follows,
    ),
    "failures forgotten": Fault(
        lambda t: mapping(t).pop("DestinationConfig"),
        "forgets what",
        mails.new_rows_call_who_follows,
    ),
    "mails by another": Fault(
        lambda t: allow(t, "ses:SendEmail", {"Ref": "MailSender"}),
        "secrets may send mails",
        mails.mails_have_one_sender,
    ),
    "mails in any name": Fault(
        lambda t: sending(t).pop("Condition"),
        "mailer may send mails in any name",
        mails.mails_have_one_sender,
    ),
    "mails of any identity": Fault(
        lambda t: sending(t).update(
            Resource=[{"Fn::Sub": "arn:${AWS::Partition}:ses:*:*:identity/*"}]
        ),
        "mailer may send mails in any name",
        mails.mails_have_one_sender,
    ),
    "mails by any of its own": Fault(
        lambda t: sending(t)["Resource"][0]["Fn::If"].__setitem__(
            1, {"Fn::Sub": "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/*"}
        ),
        "mailer may send mails in any name",
        mails.mails_have_one_sender,
    ),
    "mails of another's set": Fault(
        lambda t: sending(t)["Resource"][1]["Fn::If"].__setitem__(1, {"Ref": "CodeBucket"}),
        "mailer may send mails in any name",
        mails.mails_have_one_sender,
    ),
    "mails by what was verified before": Fault(
        lambda t: sending(t).update(
            Resource=[each["Fn::If"][2] for each in sending(t)["Resource"]]
        ),
        "mailer may send mails in any name",
        mails.mails_have_one_sender,
    ),
    "identity of another": Fault(
        lambda t: sender(t).update(EmailIdentity={"Ref": "DomainName"}),
        "SenderIdentity is another domain",
        mails.identities_are_the_tenants_own,
    ),
    "mails that come back are sent on": Fault(
        lambda t: sender(t).pop("FeedbackAttributes"),
        "are sent on, with their links",
        mails.identities_are_the_tenants_own,
    ),
    "signed by a short key": Fault(
        lambda t: sender(t)["DkimSigningAttributes"].update(NextSigningKeyLength="RSA_1024_BIT"),
        "by a key that is too short",
        mails.identities_are_the_tenants_own,
    ),
    "not signed": Fault(
        lambda t: sender(t)["DkimAttributes"].update(SigningEnabled=False),
        "mails are not signed",
        mails.identities_are_the_tenants_own,
    ),
    "of no set": Fault(
        lambda t: sender(t).pop("ConfigurationSetAttributes"),
        "nobody counts the mails",
        mails.identities_are_the_tenants_own,
    ),
    "complaints not counted": Fault(
        lambda t: told_of_mails(t)["MatchingEventTypes"].pop(),
        "nobody counts the mails",
        mails.identities_are_the_tenants_own,
    ),
    "counted by nothing": Fault(
        lambda t: told_of_mails(t).update(CloudWatchDestination={}),
        "nobody counts the mails",
        mails.identities_are_the_tenants_own,
    ),
    "counting switched off": Fault(
        lambda t: told_of_mails(t).update(Enabled=False),
        "nobody counts the mails",
        mails.identities_are_the_tenants_own,
    ),
    "no mails": Fault(
        lambda t: statements(t, "MailerRole").remove(sending(t)),
        "mailer may not send mails",
        mails.mails_have_one_sender,
    ),
    "too many roles": Fault(
        lambda t: resources(t).update({f"Role{n}": first(t, "IAM::Role") for n in range(20)}),
        "tenants fit a cell: IAM roles",
        quotas.exceeded,
    ),
    # of those who reviewed the deployment
    "role for everybody": Fault(
        lambda t: trusting(t).update(Principal={"AWS": "*"}),
        "SecretsRole may be taken by",
        trust.roles_are_taken_by_one_service,
    ),
    "role of another service": Fault(
        lambda t: trusting(t)["Principal"].update(Service="ec2.amazonaws.com"),
        "SecretsRole may be taken by",
        trust.roles_are_taken_by_one_service,
    ),
    "key for everybody": Fault(
        lambda t: properties(t, "TenantKey")["KeyPolicy"]["Statement"][0].update(Principal="*"),
        "TenantKey: * may use it",
        trust.keys_are_ruled_by_the_account,
    ),
    "key of nobody": Fault(
        lambda t: properties(t, "TenantKey")["KeyPolicy"]["Statement"].pop(0),
        "TenantKey can be changed by nobody",
        trust.keys_are_ruled_by_the_account,
    ),
    "bucket without TLS": Fault(
        lambda t: resources(t).pop("ObjectsPolicy"),
        "Objects is reached without TLS",
        trust.buckets_are_reached_by_tls,
    ),
    "bucket for everybody": Fault(
        lambda t: properties(t, "ObjectsPolicy")["PolicyDocument"]["Statement"][0].update(
            Effect="Allow"
        ),
        "ObjectsPolicy lets others in",
        trust.buckets_are_reached_by_tls,
    ),
    "snapshot beside what waits": Fault(
        lambda t: properties(t, "SecretsAlias").update(
            ProvisionedConcurrencyConfig={"ProvisionedConcurrentExecutions": 1}
        ),
        "SecretsFunction always waits, so it cannot begin from a snapshot",
        functions.snapshots_are_allowed,
    ),
    "snapshot beside many files": Fault(
        lambda t: properties(t, "SecretsFunction").update(EphemeralStorage={"Size": 1024}),
        "SecretsFunction has more files than a function with snapshots may",
        functions.snapshots_are_allowed,
    ),
    "snapshot nobody asked for": Fault(
        lambda t: properties(t, "SweeperFunction").update(
            SnapStart={"ApplyOn": "PublishedVersions"}
        ),
        "SweeperFunction begins from a snapshot, whether anybody asked for it or not",
        functions.snapshots_are_allowed,
    ),
    "alias to the newest code": Fault(
        lambda t: properties(t, "SecretsAlias").update(FunctionVersion="$LATEST"),
        "SecretsAlias leads to $LATEST",
        functions.aliases_lead_to_versions,
    ),
    "version of any code": Fault(
        lambda t: first(t, "Lambda::Version")["Properties"].pop("CodeSha256"),
        "is of whatever lies in the bucket",
        functions.versions_are_of_what_was_built,
    ),
    "all requests at once": Fault(
        lambda t: properties(t, "SecretsFunctionRelease").update(
            DeploymentConfigName="CodeDeployDefault.LambdaAllAtOnce"
        ),
        "SecretsFunctionRelease: all requests go to a release at once",
        functions.releases_are_gradual,
    ),
    "accidents lead nothing back": Fault(
        lambda t: properties(t, "SecretsFunctionRelease")["AlarmConfiguration"]["Alarms"].remove(
            {"Name": {"Ref": "SecretsAccidents"}}
        ),
        "SecretsFunctionRelease: Accidents lead no release back",
        functions.releases_are_gradual,
    ),
    "released without being asked": Fault(
        lambda t: resources(t)["SecretsAlias"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"].pop(
            "BeforeAllowTrafficHook"
        ),
        "SecretsAlias is released without being asked first",
        functions.releases_are_gradual,
    ),
    "asked by nobody": Fault(
        lambda t: properties(t, "ReleasesRole")["Policies"][0]["PolicyDocument"]["Statement"].pop(),
        "SecretsFunctionRelease cannot call ProberFunction, so nothing is ever released",
        functions.releases_are_gradual,
    ),
    "alarms switched off": Fault(
        lambda t: properties(t, "SecretsErrors").update(ActionsEnabled=False),
        "SecretsErrors is switched off",
        alarms.alarms_tell_somebody,
    ),
    "alarms for nobody": Fault(
        lambda t: properties(t, "SecretsErrors").pop("AlarmActions"),
        "SecretsErrors rings and nobody is told",
        alarms.alarms_tell_somebody,
    ),
    "accidents not heard": Fault(
        lambda t: resources(t).pop("SecretsAccidents"),
        "SecretsFunction has no alarm of its Accidents",
        alarms.every_function_is_listened_to,
    ),
    "schedule switched off": Fault(
        lambda t: properties(t, "SweeperFunctionSchedule").update(State="DISABLED"),
        "The schedule SweeperFunctionSchedule is off",
        alarms.schedules_call_and_are_missed,
    ),
    "schedule of nothing": Fault(
        lambda t: properties(t, "SweeperFunctionSchedule").pop("Targets"),
        "The schedule SweeperFunctionSchedule calls nothing",
        alarms.schedules_call_and_are_missed,
    ),
    "silence not heard": Fault(
        lambda t: properties(t, "SweeperSilent").update(TreatMissingData="notBreaching"),
        "Nobody is told when SweeperFunctionSchedule does not call SweeperFunction",
        alarms.schedules_call_and_are_missed,
    ),
    "setting not told": Fault(
        lambda t: properties(t, "UsersFunction")["Environment"]["Variables"].pop("ANSWER_BUCKET"),
        "UsersFunction is not told ANSWER_BUCKET",
        functions.settings_are_told,
    ),
    "private without a policy": Fault(
        lambda t: properties(t, "Api")["Body"].pop("x-amazon-apigateway-policy"),
        "A private API has no policy",
        gateway.private_apis_are_closed,
    ),
    "a policy without endpoints": Fault(
        lambda t: properties(t, "Api")["Body"].update({"x-amazon-apigateway-policy": coming(t)}),
        "or a public one has it too",
        gateway.private_apis_are_closed,
    ),
    "private for everybody": Fault(
        lambda t: coming(t)["Statement"][0].pop("Condition"),
        "A private API answers whoever comes",
        gateway.private_apis_are_closed,
    ),
    "private by any endpoint": Fault(
        lambda t: coming(t)["Statement"][0].update(
            Condition={"StringLike": {"aws:SourceVpce": "*"}}
        ),
        "A private API answers whoever comes",
        gateway.private_apis_are_closed,
    ),
    "private without a denial": Fault(
        lambda t: coming(t)["Statement"].pop(),
        "denies nobody who comes by another way",
        gateway.private_apis_are_closed,
    ),
    "denied to its endpoints": Fault(
        lambda t: coming(t)["Statement"][1].update(
            Condition=coming(t)["Statement"][0]["Condition"]
        ),
        "denies nobody who comes by another way",
        gateway.private_apis_are_closed,
    ),
    "denied to one account": Fault(
        lambda t: coming(t)["Statement"][1].update(Principal={"AWS": {"Ref": "AWS::AccountId"}}),
        "denies nobody who comes by another way",
        gateway.private_apis_are_closed,
    ),
    "private on the internet": Fault(
        lambda t: properties(t, "Api").update(EndpointConfiguration={"Types": ["REGIONAL"]}),
        "The API is on the internet, or not",
        gateway.private_apis_are_closed,
    ),
    "watched by nobody": Fault(
        lambda t: properties(t, "ProberFunction")["Environment"]["Variables"].pop("WATCHED"),
        "ProberFunction is not told WATCHED",
        functions.settings_are_told,
    ),
    "old TLS": Fault(
        lambda t: properties(t, "Domain").update(SecurityPolicy="TLS_1_0"),
        "Domain is reached by a TLS that is too old",
        gateway.names_are_reached_by_tls,
    ),
    "expiry switched off": Fault(
        lambda t: properties(t, "TokensTable1")["TimeToLiveSpecification"].update(Enabled=False),
        "The table tokens has rows that stay when they have expired",
        rests.tables_are_those_of_the_code,
    ),
    "old objects stay": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"][0].update(
            Status="Disabled"
        ),
        "Objects: the rule recovery removes nothing",
        objects.objects_go_in_time,
    ),
    "objects not versioned": Fault(
        lambda t: properties(t, "Objects").update(VersioningConfiguration={"Status": "Suspended"}),
        "Objects forgets what is written over",
        rests.objects_can_be_had_back,
    ),
    "what no rule looks for": Fault(
        lambda t: properties(t, "SecretsFunction").update(MemorySize=128),
        "MemorySize = 128  | Secrets — is new",
        shapes.unreviewed,
    ),
    "another template": Fault(
        lambda t: t.update(Description="A stack of somebody"),
        "no shape was reviewed",
        shapes.unreviewed,
    ),
    "kind that nobody has reviewed": Fault(
        lambda t: resources(t).update(Volume={"Type": "AWS::EC2::Volume", "Properties": {}}),
        "Nobody may make EC2::Volume",
        deployers.kinds_are_reviewed,
    ),
}

FAULTS_OF_A_CELL = {
    "firewall that only counts": Fault(
        lambda t: rule(t, 0).update(Action={"Count": {}}),
        "the rule sign-in refuses nobody",
        firewall.rules_refuse,
    ),
    "rules of others that only count": Fault(
        lambda t: rule(t, 2).update(OverrideAction={"Count": {}}),
        "the rule bad-inputs refuses nobody",
        firewall.rules_refuse,
    ),
    "firewall without rules": Fault(
        lambda t: properties(t, "Firewall").pop("Rules"),
        "Firewall has no rules",
        firewall.rules_refuse,
    ),
    "firewall that refuses all": Fault(
        lambda t: properties(t, "Firewall").update(DefaultAction={"Block": {}}),
        "Firewall refuses everybody",
        firewall.rules_refuse,
    ),
    "sign-in by a path that is not counted": Fault(
        lambda t: rule(t, 0)["Statement"]["RateBasedStatement"].update(
            ScopeDownStatement=path_has("/login")
        ),
        "Firewall bounds no source of POST /auth/verify.json",
        firewall.sign_ins_are_bounded,
    ),
    "as many sign-ins of a source as of a tenant": Fault(
        lambda t: rule(t, 0)["Statement"]["RateBasedStatement"].update(Limit=3_000),
        "Firewall bounds no source of POST /auth/jwt/login.json",
        firewall.sign_ins_are_bounded,
    ),
    "requests kept as samples": Fault(
        lambda t: rule(t, 1)["VisibilityConfig"].update(SampledRequestsEnabled=True),
        "Firewall keeps samples",
        firewall.requests_stay_unseen,
    ),
    "code without TLS": Fault(
        lambda t: resources(t).pop("CodePolicy"),
        "Code is reached without TLS",
        trust.buckets_are_reached_by_tls,
    ),
    "code not versioned": Fault(
        lambda t: properties(t, "Code").pop("VersioningConfiguration"),
        "Code forgets what is written over",
        rests.objects_can_be_had_back,
    ),
    "code for everybody": Fault(
        lambda t: properties(t, "Code")["PublicAccessBlockConfiguration"].update(
            BlockPublicAcls=False
        ),
        "Code may be opened to everybody",
        rests.buckets_are_closed,
    ),
    "alarm key for everybody": Fault(
        lambda t: properties(t, "AlarmKey")["KeyPolicy"]["Statement"][1].update(Principal="*"),
        "AlarmKey: * may use it",
        trust.keys_are_ruled_by_the_account,
    ),
    "restores by everybody": Fault(
        lambda t: trusting(t, "RestoreRole").update(Principal={"AWS": "*"}),
        "RestoreRole may be taken by",
        trust.roles_are_taken_by_one_service,
    ),
    "restores of anything": Fault(
        lambda t: properties(t, "RestoreRole").update(ManagedPolicyArns=["x"]),
        "RestoreRole has policies that are written elsewhere",
        deployers.restores_are_of_our_tables,
    ),
    "restores of others' tables": Fault(
        lambda t: statements(t, "RestoreRole")[1].update(Resource=["*"]),
        "RestoreRole allows dynamodb:RestoreTableFromAwsBackup on more than tables of tenants",
        deployers.restores_are_of_our_tables,
    ),
    "backups by everybody": Fault(
        lambda t: trusting(t, "BackupRole").update(Principal={"AWS": "*"}),
        "BackupRole may be taken by",
        trust.roles_are_taken_by_one_service,
    ),
    "vault without a lock": Fault(
        lambda t: properties(t, "KeyedVault").pop("LockConfiguration"),
        "was reviewed, and is not so",
        shapes.unreviewed,
    ),
    "name of nothing": Fault(
        lambda t: properties(t, "AlarmTopic").update(KmsMasterKeyId={"Ref": "Nothing"}),
        "AlarmTopic names Nothing, which does not exist",
        references.everything_named_exists,
    ),
    "circle": Fault(
        lambda t: resources(t)["AlarmKey"].update(DependsOn=["AlarmTopic"]),
        "Each needs the other before it",
        references.nothing_goes_in_circles,
    ),
    "literal account": Fault(
        lambda t: properties(t, "AlarmTopic").update(DisplayName="of 123456789012"),
        "names something of one account",
        references.nothing_names_an_account,
    ),
    "tenants' role for everybody": Fault(
        lambda t: trusting(t, "TenantsRole").update(Principal={"AWS": "*"}),
        "TenantsRole may be taken by",
        trust.roles_are_taken_by_one_service,
    ),
    "roles made without the bound": Fault(
        lambda t: allowing(t, "TenantsRoles", "iam:CreateRole").pop("Condition"),
        "TenantsRoles allows iam:CreateRole without the bound",
        deployers.roles_are_made_with_the_bound,
    ),
    "roles made with another bound": Fault(
        lambda t: allowing(t, "TenantsRoles", "iam:CreateRole")["Condition"]["StringEquals"].update(
            {"iam:PermissionsBoundary": "*"}
        ),
        "TenantsRoles allows iam:CreateRole without the bound",
        deployers.roles_are_made_with_the_bound,
    ),
    "roles made by deployers": Fault(
        lambda t: further(t, "MayOperate", "iam:CreateRole", "*"),
        "MayOperate lets roles be changed: it allows iam:CreateRole",
        deployers.roles_are_made_with_the_bound,
    ),
    "bound changed by deployers": Fault(
        lambda t: further(t, "MayOperate", "iam:CreatePolicyVersion", {"Ref": "Boundary"}),
        "MayOperate lets the bound be left: it allows iam:CreatePolicyVersion",
        deployers.roles_are_made_with_the_bound,
    ),
    "bound taken from roles": Fault(
        lambda t: further(t, "TenantsRoles", "iam:DeleteRolePermissionsBoundary", "*"),
        "TenantsRoles lets the bound be left",
        deployers.roles_are_made_with_the_bound,
    ),
    "roles for any service": Fault(
        lambda t: allowing(t, "TenantsRoles", "iam:PassRole").pop("Condition"),
        "TenantsRoles lets roles be handed to any service",
        deployers.roles_are_handed_to_services,
    ),
    "any role for CloudFormation": Fault(
        lambda t: allowing(t, "MayRelease", "iam:PassRole").update(Resource=["*"]),
        "MayRelease lets any role be handed over",
        deployers.roles_are_handed_to_services,
    ),
    "stacks with any rights": Fault(
        lambda t: allowing(t, "MayOperate", "cloudformation:DeleteStack").pop("Condition"),
        "MayOperate lets stacks be written with any rights",
        deployers.stacks_are_written_by_the_role,
    ),
    "stack of the cell": Fault(
        lambda t: allowing(t, "MayOperate", "cloudformation:DeleteStack").update(Resource=["*"]),
        "MayOperate lets other stacks be written",
        deployers.stacks_are_written_by_the_role,
    ),
    "secrets read by deployers": Fault(
        lambda t: further(t, "MayOperate", "secretsmanager:GetSecretValue", "*"),
        "MayOperate lets secrets be read",
        deployers.secrets_stay_unread,
    ),
    "archives written over": Fault(
        lambda t: allowing(t, "MayRelease", "s3:PutObject").pop("Condition"),
        "MayRelease lets archives of builds be written over",
        deployers.archives_are_written_once,
    ),
    "secrets deleted for good": Fault(
        lambda t: allowing(t, "MayOperate", "secretsmanager:DeleteSecret").pop("Condition"),
        "MayOperate lets secrets be deleted for good",
        deployers.secrets_can_be_brought_back,
    ),
    "all of a service": Fault(
        lambda t: further(t, "MayRestore", "dynamodb:*", "*"),
        "MayRestore allows whatever dynamodb:* means",
        deployers.secrets_stay_unread,
    ),
    "deployers from anywhere": Fault(
        lambda t: trusting(t, "DeployerRole").update(Principal={"AWS": "*"}),
        "DeployerRole may be taken by others",
        deployers.deployers_are_users,
    ),
    "deployers under any name": Fault(
        lambda t: trusting(t, "DeployerRole")["Condition"].pop("StringEquals"),
        "DeployerRole may be taken by others than the users named, or under other names",
        deployers.deployers_are_users,
    ),
    "roles as deployers": Fault(
        lambda t: t["Parameters"]["Deployers"].update(AllowedPattern=".*"),
        "Deployers may be *",
        deployers.deployers_are_users,
    ),
    "tokens of CI for anybody": Fault(
        lambda t: of_tokens(
            t, lambda said: said["Condition"]["StringEquals"].pop("${CiIssuer}:aud")
        ),
        "CiRole may be taken by other tokens",
        deployers.ci_is_one_subject,
    ),
    "tokens of any subject": Fault(
        lambda t: of_tokens(
            t, lambda said: said["Condition"]["StringEquals"].pop("${CiIssuer}:sub")
        ),
        "CiRole may be taken by other tokens",
        deployers.ci_is_one_subject,
    ),
    "tokens of subjects that are alike": Fault(
        lambda t: of_tokens(
            t, lambda said: said.update(Condition={"StringLike": said["Condition"]["StringEquals"]})
        ),
        "CiRole may be taken by other tokens",
        deployers.ci_is_one_subject,
    ),
    "tokens of another issuer": Fault(
        lambda t: of_tokens(t, lambda said: said.update(Principal={"Federated": "*"})),
        "CiRole may be taken by other tokens",
        deployers.ci_is_one_subject,
    ),
    "subjects with wildcards": Fault(
        lambda t: t["Parameters"]["CiSubject"].update(AllowedPattern="^[a-z:/*]*$"),
        "CiSubject may be repo:acme/*",
        deployers.ci_is_one_subject,
    ),
    "issuers with paths": Fault(
        lambda t: t["Parameters"]["CiIssuer"].update(AllowedPattern="^[a-z./]*$"),
        "CiIssuer may be example.com/path",
        deployers.ci_is_one_subject,
    ),
    "CI that operates": Fault(
        lambda t: properties(t, "CiRole")["ManagedPolicyArns"].append({"Ref": "MayOperate"}),
        "CiRole may do more than bring builds to tenants",
        deployers.ci_only_releases,
    ),
    "CI that brings other code": Fault(
        lambda t: further(t, "MayRelease", "lambda:UpdateFunctionCode", "*"),
        "CI may lambda:UpdateFunctionCode",
        deployers.ci_only_releases,
    ),
    "CI that removes objects": Fault(
        lambda t: further(t, "MayRelease", "s3:DeleteObjectVersion", "*"),
        "CI may s3:DeleteObjectVersion",
        deployers.ci_only_releases,
    ),
    "CI that calls founders": Fault(
        lambda t: further(t, "MayRelease", "lambda:InvokeFunction", "*"),
        "CI may call functions that nobody may ask",
        deployers.ci_only_releases,
    ),
    "CI that makes stacks": Fault(
        lambda t: allowing(t, "MayRelease", "cloudformation:CreateChangeSet")["Condition"][
            "StringEquals"
        ].pop("aws:ResourceTag/service"),
        "CI may make stacks of its own",
        deployers.ci_only_releases,
    ),
    "policy that is too large": Fault(
        lambda t: [further(t, "MayRelease", "s3:GetObject", "x" * 100) for _ in range(50)],
        "MayRelease has",
        deployers.policies_fit,
    ),
    "too many policies": Fault(
        lambda t: properties(t, "TenantsRole").update(ManagedPolicyArns=["x"] * 11),
        "TenantsRole has more than 10 policies",
        deployers.policies_fit,
    ),
    "template that is too large": Fault(
        lambda t: t.update(Metadata={"x": "x" * 20_000}), "The template has", deployers.policies_fit
    ),
}
