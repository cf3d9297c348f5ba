"""Faults somebody could make in a template, each with what finds it.

Those of the design's list come first; general linters miss a third of them.
"""

from __future__ import annotations

import json
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
        lambda t: allow(t, "dynamodb:*", "*"), "may do whatever dynamodb:* means"
    ),
    "mistyped action": Fault(
        lambda t: statements(t)[0]["Action"].append("dynamodb:GetItems"), "may GetItems on"
    ),
    "foreign service": Fault(
        lambda t: allow(t, "sns:Publish", {"Fn::GetAtt": ["Objects", "Arn"]}),
        "may sns:Publish, of a service it has no use for",
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
    "replicas under another key": Fault(
        lambda t: properties(t, "JwtSecret")["ReplicaRegions"]["Fn::If"][1][0].pop("KmsKeyId"),
        "JwtSecret has other replicas",
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
    "addresses in traces": Fault(
        lambda t: stage(t).update(TracingEnabled=True), "Traces of the stage hold addresses"
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
    "in the company's network": Fault(
        lambda t: properties(t, "SecretsFunction").update(VpcConfig={"SubnetIds": []}),
        "secrets is in the company's network, and asks no directory",
    ),
    "no way to the directory": Fault(
        lambda t: properties(t, "DirectoryFunction").pop("VpcConfig"),
        "directory asks a directory, and is in no network",
    ),
    "rights beside a role": Fault(
        lambda t: properties(t, "DirectoryNetwork").update(Roles=[{"Ref": "SecretsRole"}]),
        "DirectoryNetwork gives rights to roles, beside their own",
    ),
    "interfaces for code": Fault(
        lambda t: properties(t, "DirectoryNetwork")["PolicyDocument"]["Statement"].pop(),
        "DirectoryNetwork allows what a function in a network does not need",
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
    "exports read by others": Fault(
        lambda t: allow(t, "s3:GetObject", OBJECTS_OF_EXPORTS, "SecretsRole"),
        "secrets: GetObject on logs for auditors",
    ),
    "exports removed by who leaves them": Fault(
        lambda t: allow(t, "s3:DeleteObject", OBJECTS_OF_EXPORTS, "ExporterRole"),
        "exporter: DeleteObject on logs for auditors",
    ),
    "exports nobody may leave": Fault(
        lambda t: exporting(t).update(Action=["s3:GetObject"]),
        "exporter: PutObject on logs for auditors",
    ),
    "exports go": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"][0].update(
            ExpirationInDays=30
        ),
        "the rule recovery removes logs for auditors",
    ),
    "logs of the gateway's own": Fault(
        lambda t: stage(t)["MethodSettings"][0].update(LoggingLevel="ERROR"),
        "The gateway logs its own work",
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
    "mails by any of its own": Fault(
        lambda t: sending(t)["Resource"][0]["Fn::If"].__setitem__(
            1, {"Fn::Sub": "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:identity/*"}
        ),
        "mailer may send mails in any name",
    ),
    "mails of another's set": Fault(
        lambda t: sending(t)["Resource"][1]["Fn::If"].__setitem__(1, {"Ref": "CodeBucket"}),
        "mailer may send mails in any name",
    ),
    "mails by what was verified before": Fault(
        lambda t: sending(t).update(
            Resource=[each["Fn::If"][2] for each in sending(t)["Resource"]]
        ),
        "mailer may send mails in any name",
    ),
    "identity of another": Fault(
        lambda t: sender(t).update(EmailIdentity={"Ref": "DomainName"}),
        "SenderIdentity is another domain",
    ),
    "mails that come back are sent on": Fault(
        lambda t: sender(t).pop("FeedbackAttributes"), "are sent on, with their links"
    ),
    "signed by a short key": Fault(
        lambda t: sender(t)["DkimSigningAttributes"].update(NextSigningKeyLength="RSA_1024_BIT"),
        "by a key that is too short",
    ),
    "not signed": Fault(
        lambda t: sender(t)["DkimAttributes"].update(SigningEnabled=False), "mails are not signed"
    ),
    "of no set": Fault(
        lambda t: sender(t).pop("ConfigurationSetAttributes"), "nobody counts the mails"
    ),
    "complaints not counted": Fault(
        lambda t: told_of_mails(t)["MatchingEventTypes"].pop(), "nobody counts the mails"
    ),
    "counted by nothing": Fault(
        lambda t: told_of_mails(t).update(CloudWatchDestination={}), "nobody counts the mails"
    ),
    "counting switched off": Fault(
        lambda t: told_of_mails(t).update(Enabled=False), "nobody counts the mails"
    ),
    "no mails": Fault(
        lambda t: statements(t, "MailerRole").remove(sending(t)), "mailer may not send mails"
    ),
    "too many roles": Fault(
        lambda t: resources(t).update({f"Role{n}": first(t, "IAM::Role") for n in range(20)}),
        "tenants fit a cell: IAM roles",
    ),
    # of those who reviewed the deployment
    "role for everybody": Fault(
        lambda t: trusting(t).update(Principal={"AWS": "*"}), "SecretsRole may be taken by"
    ),
    "role of another service": Fault(
        lambda t: trusting(t)["Principal"].update(Service="ec2.amazonaws.com"),
        "SecretsRole may be taken by",
    ),
    "key for everybody": Fault(
        lambda t: properties(t, "TenantKey")["KeyPolicy"]["Statement"][0].update(Principal="*"),
        "TenantKey: * may use it",
    ),
    "key of nobody": Fault(
        lambda t: properties(t, "TenantKey")["KeyPolicy"]["Statement"].pop(0),
        "TenantKey can be changed by nobody",
    ),
    "bucket without TLS": Fault(
        lambda t: resources(t).pop("ObjectsPolicy"), "Objects is reached without TLS"
    ),
    "bucket for everybody": Fault(
        lambda t: properties(t, "ObjectsPolicy")["PolicyDocument"]["Statement"][0].update(
            Effect="Allow"
        ),
        "ObjectsPolicy lets others in",
    ),
    "snapshot beside what waits": Fault(
        lambda t: properties(t, "SecretsAlias").update(
            ProvisionedConcurrencyConfig={"ProvisionedConcurrentExecutions": 1}
        ),
        "SecretsFunction always waits, so it cannot begin from a snapshot",
    ),
    "snapshot beside many files": Fault(
        lambda t: properties(t, "SecretsFunction").update(EphemeralStorage={"Size": 1024}),
        "SecretsFunction has more files than a function with snapshots may",
    ),
    "snapshot nobody asked for": Fault(
        lambda t: properties(t, "SweeperFunction").update(
            SnapStart={"ApplyOn": "PublishedVersions"}
        ),
        "SweeperFunction begins from a snapshot, whether anybody asked for it or not",
    ),
    "alias to the newest code": Fault(
        lambda t: properties(t, "SecretsAlias").update(FunctionVersion="$LATEST"),
        "SecretsAlias leads to $LATEST",
    ),
    "version of any code": Fault(
        lambda t: first(t, "Lambda::Version")["Properties"].pop("CodeSha256"),
        "is of whatever lies in the bucket",
    ),
    "all requests at once": Fault(
        lambda t: properties(t, "SecretsFunctionRelease").update(
            DeploymentConfigName="CodeDeployDefault.LambdaAllAtOnce"
        ),
        "SecretsFunctionRelease: all requests go to a release at once",
    ),
    "accidents lead nothing back": Fault(
        lambda t: properties(t, "SecretsFunctionRelease")["AlarmConfiguration"]["Alarms"].remove(
            {"Name": {"Ref": "SecretsAccidents"}}
        ),
        "SecretsFunctionRelease: Accidents lead no release back",
    ),
    "released without being asked": Fault(
        lambda t: resources(t)["SecretsAlias"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"].pop(
            "BeforeAllowTrafficHook"
        ),
        "SecretsAlias is released without being asked first",
    ),
    "asked by nobody": Fault(
        lambda t: properties(t, "ReleasesRole")["Policies"][0]["PolicyDocument"]["Statement"].pop(),
        "SecretsFunctionRelease cannot call ProberFunction, so nothing is ever released",
    ),
    "alarms switched off": Fault(
        lambda t: properties(t, "SecretsErrors").update(ActionsEnabled=False),
        "SecretsErrors is switched off",
    ),
    "alarms for nobody": Fault(
        lambda t: properties(t, "SecretsErrors").pop("AlarmActions"),
        "SecretsErrors rings and nobody is told",
    ),
    "accidents not heard": Fault(
        lambda t: resources(t).pop("SecretsAccidents"),
        "SecretsFunction has no alarm of its Accidents",
    ),
    "schedule switched off": Fault(
        lambda t: properties(t, "SweeperFunctionSchedule").update(State="DISABLED"),
        "The schedule SweeperFunctionSchedule is off",
    ),
    "schedule of nothing": Fault(
        lambda t: properties(t, "SweeperFunctionSchedule").pop("Targets"),
        "The schedule SweeperFunctionSchedule calls nothing",
    ),
    "silence not heard": Fault(
        lambda t: properties(t, "SweeperSilent").update(TreatMissingData="notBreaching"),
        "Nobody is told when SweeperFunctionSchedule does not call SweeperFunction",
    ),
    "setting not told": Fault(
        lambda t: properties(t, "UsersFunction")["Environment"]["Variables"].pop("ANSWER_BUCKET"),
        "UsersFunction is not told ANSWER_BUCKET",
    ),
    "private without a policy": Fault(
        lambda t: properties(t, "Api")["Body"].pop("x-amazon-apigateway-policy"),
        "A private API has no policy",
    ),
    "a policy without endpoints": Fault(
        lambda t: properties(t, "Api")["Body"].update({"x-amazon-apigateway-policy": coming(t)}),
        "or a public one has it too",
    ),
    "private for everybody": Fault(
        lambda t: coming(t)["Statement"][0].pop("Condition"),
        "A private API answers whoever comes",
    ),
    "private by any endpoint": Fault(
        lambda t: coming(t)["Statement"][0].update(
            Condition={"StringLike": {"aws:SourceVpce": "*"}}
        ),
        "A private API answers whoever comes",
    ),
    "private without a denial": Fault(
        lambda t: coming(t)["Statement"].pop(), "denies nobody who comes by another way"
    ),
    "denied to its endpoints": Fault(
        lambda t: coming(t)["Statement"][1].update(
            Condition=coming(t)["Statement"][0]["Condition"]
        ),
        "denies nobody who comes by another way",
    ),
    "denied to one account": Fault(
        lambda t: coming(t)["Statement"][1].update(Principal={"AWS": {"Ref": "AWS::AccountId"}}),
        "denies nobody who comes by another way",
    ),
    "private on the internet": Fault(
        lambda t: properties(t, "Api").update(EndpointConfiguration={"Types": ["REGIONAL"]}),
        "The API is on the internet, or not",
    ),
    "watched by nobody": Fault(
        lambda t: properties(t, "ProberFunction")["Environment"]["Variables"].pop("WATCHED"),
        "ProberFunction is not told WATCHED",
    ),
    "old TLS": Fault(
        lambda t: properties(t, "Domain").update(SecurityPolicy="TLS_1_0"),
        "Domain is reached by a TLS that is too old",
    ),
    "expiry switched off": Fault(
        lambda t: properties(t, "TokensTable1")["TimeToLiveSpecification"].update(Enabled=False),
        "The table tokens has rows that stay when they have expired",
    ),
    "old objects stay": Fault(
        lambda t: properties(t, "Objects")["LifecycleConfiguration"]["Rules"][0].update(
            Status="Disabled"
        ),
        "Objects: the rule recovery removes nothing",
    ),
    "objects not versioned": Fault(
        lambda t: properties(t, "Objects").update(VersioningConfiguration={"Status": "Suspended"}),
        "Objects forgets what is written over",
    ),
    "what no rule looks for": Fault(
        lambda t: properties(t, "SecretsFunction").update(MemorySize=128),
        "MemorySize = 128  | Secrets — is new",
    ),
    "another template": Fault(
        lambda t: t.update(Description="A stack of somebody"), "no shape was reviewed"
    ),
    "kind that nobody has reviewed": Fault(
        lambda t: resources(t).update(Volume={"Type": "AWS::EC2::Volume", "Properties": {}}),
        "Nobody may make EC2::Volume",
    ),
}

FAULTS_OF_A_CELL = {
    "firewall that only counts": Fault(
        lambda t: rule(t, 0).update(Action={"Count": {}}), "the rule sign-in refuses nobody"
    ),
    "rules of others that only count": Fault(
        lambda t: rule(t, 2).update(OverrideAction={"Count": {}}),
        "the rule bad-inputs refuses nobody",
    ),
    "firewall without rules": Fault(
        lambda t: properties(t, "Firewall").pop("Rules"), "Firewall has no rules"
    ),
    "firewall that refuses all": Fault(
        lambda t: properties(t, "Firewall").update(DefaultAction={"Block": {}}),
        "Firewall refuses everybody",
    ),
    "requests kept as samples": Fault(
        lambda t: rule(t, 1)["VisibilityConfig"].update(SampledRequestsEnabled=True),
        "Firewall keeps samples",
    ),
    "code without TLS": Fault(
        lambda t: resources(t).pop("CodePolicy"), "Code is reached without TLS"
    ),
    "code not versioned": Fault(
        lambda t: properties(t, "Code").pop("VersioningConfiguration"),
        "Code forgets what is written over",
    ),
    "code for everybody": Fault(
        lambda t: properties(t, "Code")["PublicAccessBlockConfiguration"].update(
            BlockPublicAcls=False
        ),
        "Code may be opened to everybody",
    ),
    "alarm key for everybody": Fault(
        lambda t: properties(t, "AlarmKey")["KeyPolicy"]["Statement"][1].update(Principal="*"),
        "AlarmKey: * may use it",
    ),
    "restores by everybody": Fault(
        lambda t: trusting(t, "RestoreRole").update(Principal={"AWS": "*"}),
        "RestoreRole may be taken by",
    ),
    "restores of anything": Fault(
        lambda t: properties(t, "RestoreRole").update(ManagedPolicyArns=["x"]),
        "RestoreRole has policies that are written elsewhere",
    ),
    "restores of others' tables": Fault(
        lambda t: statements(t, "RestoreRole")[1].update(Resource=["*"]),
        "RestoreRole allows dynamodb:RestoreTableFromAwsBackup on more than tables of tenants",
    ),
    "backups by everybody": Fault(
        lambda t: trusting(t, "BackupRole").update(Principal={"AWS": "*"}),
        "BackupRole may be taken by",
    ),
    "vault without a lock": Fault(
        lambda t: properties(t, "KeyedVault").pop("LockConfiguration"),
        "was reviewed, and is not so",
    ),
    "name of nothing": Fault(
        lambda t: properties(t, "AlarmTopic").update(KmsMasterKeyId={"Ref": "Nothing"}),
        "AlarmTopic names Nothing, which does not exist",
    ),
    "circle": Fault(
        lambda t: resources(t)["AlarmKey"].update(DependsOn=["AlarmTopic"]),
        "Each needs the other before it",
    ),
    "literal account": Fault(
        lambda t: properties(t, "AlarmTopic").update(DisplayName="of 123456789012"),
        "names something of one account",
    ),
    "tenants' role for everybody": Fault(
        lambda t: trusting(t, "TenantsRole").update(Principal={"AWS": "*"}),
        "TenantsRole may be taken by",
    ),
    "roles made without the bound": Fault(
        lambda t: allowing(t, "TenantsRoles", "iam:CreateRole").pop("Condition"),
        "TenantsRoles allows iam:CreateRole without the bound",
    ),
    "roles made with another bound": Fault(
        lambda t: allowing(t, "TenantsRoles", "iam:CreateRole")["Condition"]["StringEquals"].update(
            {"iam:PermissionsBoundary": "*"}
        ),
        "TenantsRoles allows iam:CreateRole without the bound",
    ),
    "roles made by deployers": Fault(
        lambda t: further(t, "MayOperate", "iam:CreateRole", "*"),
        "MayOperate lets roles be changed: it allows iam:CreateRole",
    ),
    "bound changed by deployers": Fault(
        lambda t: further(t, "MayOperate", "iam:CreatePolicyVersion", {"Ref": "Boundary"}),
        "MayOperate lets the bound be left: it allows iam:CreatePolicyVersion",
    ),
    "bound taken from roles": Fault(
        lambda t: further(t, "TenantsRoles", "iam:DeleteRolePermissionsBoundary", "*"),
        "TenantsRoles lets the bound be left",
    ),
    "roles for any service": Fault(
        lambda t: allowing(t, "TenantsRoles", "iam:PassRole").pop("Condition"),
        "TenantsRoles lets roles be handed to any service",
    ),
    "any role for CloudFormation": Fault(
        lambda t: allowing(t, "MayRelease", "iam:PassRole").update(Resource=["*"]),
        "MayRelease lets any role be handed over",
    ),
    "stacks with any rights": Fault(
        lambda t: allowing(t, "MayOperate", "cloudformation:DeleteStack").pop("Condition"),
        "MayOperate lets stacks be written with any rights",
    ),
    "stack of the cell": Fault(
        lambda t: allowing(t, "MayOperate", "cloudformation:DeleteStack").update(Resource=["*"]),
        "MayOperate lets other stacks be written",
    ),
    "secrets read by deployers": Fault(
        lambda t: further(t, "MayOperate", "secretsmanager:GetSecretValue", "*"),
        "MayOperate lets secrets be read",
    ),
    "archives written over": Fault(
        lambda t: allowing(t, "MayRelease", "s3:PutObject").pop("Condition"),
        "MayRelease lets archives of builds be written over",
    ),
    "secrets deleted for good": Fault(
        lambda t: allowing(t, "MayOperate", "secretsmanager:DeleteSecret").pop("Condition"),
        "MayOperate lets secrets be deleted for good",
    ),
    "all of a service": Fault(
        lambda t: further(t, "MayRestore", "dynamodb:*", "*"),
        "MayRestore allows whatever dynamodb:* means",
    ),
    "deployers from anywhere": Fault(
        lambda t: trusting(t, "DeployerRole").update(Principal={"AWS": "*"}),
        "DeployerRole may be taken by others",
    ),
    "deployers under any name": Fault(
        lambda t: trusting(t, "DeployerRole")["Condition"].pop("StringEquals"),
        "DeployerRole may be taken by others than the users named, or under other names",
    ),
    "roles as deployers": Fault(
        lambda t: t["Parameters"]["Deployers"].update(AllowedPattern=".*"), "Deployers may be *"
    ),
    "tokens of CI for anybody": Fault(
        lambda t: of_tokens(
            t, lambda said: said["Condition"]["StringEquals"].pop("${CiIssuer}:aud")
        ),
        "CiRole may be taken by other tokens",
    ),
    "tokens of any subject": Fault(
        lambda t: of_tokens(
            t, lambda said: said["Condition"]["StringEquals"].pop("${CiIssuer}:sub")
        ),
        "CiRole may be taken by other tokens",
    ),
    "tokens of subjects that are alike": Fault(
        lambda t: of_tokens(
            t, lambda said: said.update(Condition={"StringLike": said["Condition"]["StringEquals"]})
        ),
        "CiRole may be taken by other tokens",
    ),
    "tokens of another issuer": Fault(
        lambda t: of_tokens(t, lambda said: said.update(Principal={"Federated": "*"})),
        "CiRole may be taken by other tokens",
    ),
    "subjects with wildcards": Fault(
        lambda t: t["Parameters"]["CiSubject"].update(AllowedPattern="^[a-z:/*]*$"),
        "CiSubject may be repo:acme/*",
    ),
    "issuers with paths": Fault(
        lambda t: t["Parameters"]["CiIssuer"].update(AllowedPattern="^[a-z./]*$"),
        "CiIssuer may be example.com/path",
    ),
    "CI that operates": Fault(
        lambda t: properties(t, "CiRole")["ManagedPolicyArns"].append({"Ref": "MayOperate"}),
        "CiRole may do more than bring builds to tenants",
    ),
    "CI that brings other code": Fault(
        lambda t: further(t, "MayRelease", "lambda:UpdateFunctionCode", "*"),
        "CI may lambda:UpdateFunctionCode",
    ),
    "CI that removes objects": Fault(
        lambda t: further(t, "MayRelease", "s3:DeleteObjectVersion", "*"),
        "CI may s3:DeleteObjectVersion",
    ),
    "CI that calls founders": Fault(
        lambda t: further(t, "MayRelease", "lambda:InvokeFunction", "*"),
        "CI may call functions that nobody may ask",
    ),
    "CI that makes stacks": Fault(
        lambda t: allowing(t, "MayRelease", "cloudformation:CreateChangeSet")["Condition"][
            "StringEquals"
        ].pop("aws:ResourceTag/service"),
        "CI may make stacks of its own",
    ),
    "policy that is too large": Fault(
        lambda t: [further(t, "MayRelease", "s3:GetObject", "x" * 100) for _ in range(50)],
        "MayRelease has",
    ),
    "too many policies": Fault(
        lambda t: properties(t, "TenantsRole").update(ManagedPolicyArns=["x"] * 11),
        "TenantsRole has more than 10 policies",
    ),
    "template that is too large": Fault(
        lambda t: t.update(Metadata={"x": "x" * 20_000}), "The template has"
    ),
}
