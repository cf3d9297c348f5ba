"""What each role of a tenant may do, with the tenant's things and with its neighbour's.

What is expected comes from `groups.py`, never from the policies that are tried here. The
roles are taken and the calls are made; none would change a thing if it were let through.
What a service offers besides is too much to call: there the local cloud reads the policies
by the same evaluator, and calls are made to one thing of each tenant.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from chalicelib.endpoint_groups import EndpointGroup, Right
from chalicelib.objects.answers import ANSWERS
from chalicelib.objects.avatars import AVATARS, NOTES
from chalicelib.objects.exports import EXPORTS
from infra.local_cloud.process import ACCOUNT, REGION
from infra.template.functions import ALIAS, FUNCTIONS
from infra.template.stores import SECRET_OF, SECRETS
from infra.template.tables import index_names, our_tables
from tests.cloud.given.calls import Caller, caller_with, everything, is_refused

pytestmark = pytest.mark.cloud

RELEASES = "releases"
BY_NAME = {each.name: each for each in FUNCTIONS}
ON_ROWS = ("GetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem")
IN_BATCHES = ("BatchGetItem", "BatchWriteItem")
IN_TRANSACTIONS = {
    "ConditionCheck": "ConditionCheckItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
}
WRITING_LOGS = ("CreateLogStream", "PutLogEvents")
ROW_ACTIONS = frozenset(action for right in Right for action in right.value)
ROW_OPERATIONS = {*ON_ROWS, *IN_BATCHES, "TransactGetItems", "TransactWriteItems"}


@dataclass(frozen=True)
class Role:
    name: str
    group: EndpointGroup
    caller: Caller
    policies: list[str]

    def mistaken(self, service, attempts):
        """The attempts that end otherwise than they should."""
        different = {json.dumps(each, sort_keys=True): each for each in attempts}
        return [
            (operation, sent, "should be allowed" if may else "should be refused")
            for operation, sent, may in different.values()
            if self.caller.is_refused(service, operation, sent) == may
        ]

    def allowed(self, service, resource, besides=frozenset()):
        """Of all that a service offers, what the policies let the role do with a thing.

        Besides what calls are named after, a service may check actions of other names.
        """
        asked = {each for each, _ in everything(service)} | besides
        read = self.caller.cloud.client("iam").simulate_custom_policy(
            PolicyInputList=self.policies,
            ActionNames=[f"{service}:{each}" for each in sorted(asked)],
            ResourceArns=[resource],
        )
        decided = {
            each["EvalActionName"].removeprefix(f"{service}:"): each["EvalDecision"]
            for each in read["EvaluationResults"]
        }
        assert decided.keys() == asked
        return {each for each in asked if decided[each] == "allowed"}


@pytest.fixture(scope="module", params=[*BY_NAME, RELEASES])
def role(request, acme):
    """A role of Acme's. The one that moves aliases has no business with anything that rests."""
    function = BY_NAME.get(request.param)
    name = acme.stack.resources[function.role if function else "ReleasesRole"]
    group = function.group if function else EndpointGroup(RELEASES, modules=())
    with caller_with(name, acme.cloud) as caller:
        yield Role(request.param, group, caller, policies_of(name, acme.cloud))


def policies_of(role, cloud):
    """All there are: its own ones, as texts."""
    iam = cloud.client("iam")
    assert iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] == []
    found = [
        iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for name in iam.list_role_policies(RoleName=role)["PolicyNames"]
    ]
    return [json.dumps(each) for each in found]


@pytest.fixture(scope="module")
def tenants(acme, globex):
    """Both, and whether it is the role's own."""
    return ((acme, True), (globex, False))


def on_rows(table):
    """Actions on rows, and calls that need them."""
    name = {"TableName": table}
    yield from ((action, action, name) for action in ON_ROWS)
    yield from ((action, action, {"RequestItems": {table: {}}}) for action in IN_BATCHES)
    yield "GetItem", "TransactGetItems", {"TransactItems": [{"Get": name}]}
    for part, action in IN_TRANSACTIONS.items():
        yield action, "TransactWriteItems", {"TransactItems": [{part: name}]}


def test_every_action_on_rows_is_tried():
    tried = {action for action, _, _ in on_rows("table")}

    assert tried == ROW_ACTIONS


def test_it_does_with_rows_what_its_group_names(role, tenants):
    attempts = [
        (operation, sent, is_own and role.group.allows(action, table))
        for tenant, is_own in tenants
        for table in our_tables()
        for action, operation, sent in on_rows(tenant.stack.outputs["TablePrefix"] + table)
    ]

    assert role.mistaken("dynamodb", attempts) == []


def test_it_asks_indexes_only_of_tables_it_reads(role, tenants):
    attempts = [
        (
            operation,
            {"TableName": tenant.stack.outputs["TablePrefix"] + table, "IndexName": index},
            is_own and operation == "Query" and role.group.allows("Query", table),
        )
        for tenant, is_own in tenants
        for table, declared in our_tables().items()
        for index in index_names(declared)
        for operation in ("Query", "Scan")
    ]

    assert role.mistaken("dynamodb", attempts) == []


def test_it_does_nothing_else_with_tables(role, tenants):
    prefix = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/"
    for tenant, is_own in tenants:
        for table in our_tables():
            name = tenant.stack.outputs["TablePrefix"] + table
            may = {each for each in ROW_ACTIONS if is_own and role.group.allows(each, table)}
            assert role.allowed("dynamodb", prefix + name, ROW_ACTIONS) == may, name


def test_it_is_refused_all_else_with_a_table(role, tenants):
    attempts = [
        (operation, sent, False)
        for tenant, _ in tenants
        for operation, sent in everything("dynamodb", **names_of_table(a_table_of(tenant)))
        if operation not in ROW_OPERATIONS
    ]

    assert role.mistaken("dynamodb", attempts) == []


def a_table_of(tenant):
    return tenant.stack.outputs["TablePrefix"] + next(iter(our_tables()))


def names_of_table(name):
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}"
    by_name = dict.fromkeys(("TableName", "SourceTableName", "TargetTableName"), name)
    return {**by_name, "TableArn": arn, "ResourceArn": arn}


def test_it_never_uses_a_key_by_itself(role, tenants):
    """Only through the services that keep things under it, which is a condition of its policy."""
    attempts = [
        (operation, sent, False)
        for tenant, _ in tenants
        for operation, sent in everything("kms", KeyId=tenant.stack.outputs["TenantKeyArn"])
    ]

    assert role.mistaken("kms", attempts) == []


def test_it_reads_private_keys_only_to_sign_in_and_writes_them_only_to_make_them(role, tenants):
    held = {SECRET_OF[key] for key in role.group.private_keys}
    made = set(SECRETS) if role.group.makes_private_keys else set()
    may = {"GetSecretValue": held, "DescribeSecret": made, "PutSecretValue": made}
    attempts = [
        (operation, sent, is_own and secret in may.get(operation, ()))
        for tenant, is_own in tenants
        for secret in SECRETS
        for operation, sent in everything(
            "secretsmanager", SecretId=tenant.stack.outputs[secret], VersionStages=["never current"]
        )
    ]

    assert role.mistaken("secretsmanager", attempts) == []


def test_it_leaves_what_failed_only_if_nobody_waits_for_its_answer(role, tenants):
    is_waited_for = not role.group.is_scheduled and role.group.follows is None
    attempts = [
        (
            operation,
            sent,
            is_own and operation == "SendMessage" and not is_waited_for,
        )
        for tenant, is_own in tenants
        for operation, sent in everything("sqs", QueueUrl=tenant.stack.outputs["DeadLettersUrl"])
    ]

    assert role.mistaken("sqs", attempts) == []


def test_it_reads_no_log_and_writes_no_others(role, tenants):
    for tenant, is_own in tenants:
        for name in tenant.stack.of_kind("Logs::LogGroup").values():
            arn = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}"
            writes = is_own and name.endswith(f"/{role.name}")
            assert role.allowed("logs", arn) == set(), name
            assert role.allowed("logs", f"{arn}:*") == (set(WRITING_LOGS) if writes else set())


def test_it_is_refused_each_call_about_a_log(role, tenants):
    """Of its own, the local cloud expects another ARN for writing than AWS does."""
    attempts = [
        (operation, sent, False)
        for tenant, is_own in tenants
        for operation, sent in everything("logs", **names_of_log(a_log_of(tenant)))
    ]

    assert role.mistaken("logs", attempts) == []


def a_log_of(tenant):
    return next(iter(tenant.stack.of_kind("Logs::LogGroup").values()))


def names_of_log(name):
    arn = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}"
    by_name = {"logGroupName": name, "logStreamName": "x"}
    return {**by_name, "logGroupIdentifier": arn, "resourceArn": arn}


def test_it_does_with_objects_what_its_group_names(role, tenants):
    objects = role.caller.client("s3")
    calls = {
        "GetObject": objects.get_object,
        "PutObject": objects.put_object,
        "DeleteObject": objects.delete_object,
    }
    rights = {AVATARS: role.group.avatars}
    if role.group.avatars != {"GetObject"}:
        rights[NOTES] = role.group.avatars
    if role.group.leaves_answers:
        rights[ANSWERS] = {"GetObject", "PutObject"}
    if role.group.exports_logs:
        rights[EXPORTS] = {"PutObject"}
    for tenant, is_own in tenants:
        for folder in (AVATARS, NOTES, ANSWERS, EXPORTS, "others"):
            for action, call in calls.items():
                named = {"Bucket": tenant.stack.outputs["ObjectsBucket"], "Key": f"{folder}/try"}
                may = is_own and action in rights.get(folder, ())
                assert is_refused(call, **named) != may, (action, named)


def test_it_lists_notes_only_to_end_changes_and_exports_to_go_on(role, tenants):
    listed = {f"{NOTES}/"} if "ListBucket" in role.group.avatars else set()
    listed |= {f"{EXPORTS}/"} if role.group.exports_logs else set()
    objects = role.caller.client("s3")
    for tenant, is_own in tenants:
        for prefix in (f"{NOTES}/", f"{AVATARS}/", f"{EXPORTS}/", ""):
            named = {"Bucket": tenant.stack.outputs["ObjectsBucket"], "Prefix": prefix}
            may = is_own and prefix in listed
            assert is_refused(objects.list_objects_v2, **named) != may, named


def test_it_changes_no_bucket(role, tenants, cell):
    objects = role.caller.client("s3")
    buckets = [tenant.stack.outputs["ObjectsBucket"] for tenant, _ in tenants]
    for bucket in (*buckets, cell.platform.outputs["CodeBucket"]):
        for call in (
            objects.delete_bucket,
            objects.delete_bucket_policy,
            objects.get_bucket_policy,
            objects.list_object_versions,
            objects.list_multipart_uploads,
            objects.get_bucket_versioning,
            objects.get_bucket_encryption,
        ):
            assert is_refused(call, Bucket=bucket), (call.__name__, bucket)
    assert is_refused(objects.list_buckets)
    key = {"Bucket": cell.platform.outputs["CodeBucket"], "Key": cell.bundle.code_key}
    assert is_refused(objects.get_object, **key)
    assert is_refused(objects.put_object, **key, Body=b"")


def test_it_calls_and_changes_no_function(role, tenants):
    """Releases have the tenant's own prober ask what is new.

    That they move aliases is not shown: the local cloud takes it for another action.
    """
    functions = role.caller.client("lambda")
    for tenant, is_own in tenants:
        releases = is_own and role.name == RELEASES
        for name in tenant.stack.of_kind("Lambda::Function").values():
            alias = {"FunctionName": name, "Name": ALIAS, "FunctionVersion": "1"}
            asks = releases and name.endswith("-prober")
            assert releases or is_refused(functions.update_alias, **alias)
            assert is_refused(functions.invoke, FunctionName=name) != asks
            assert is_refused(functions.get_function, FunctionName=name)
            code = {"FunctionName": name, "ZipFile": b""}
            assert is_refused(functions.update_function_code, **code)


def test_it_takes_no_other_role_and_gives_itself_no_rights(role, tenants):
    roles, tokens = role.caller.client("iam"), role.caller.client("sts")
    for tenant, _ in tenants:
        for name in tenant.stack.of_kind("IAM::Role").values():
            policy = {"RoleName": name, "PolicyName": "more", "PolicyDocument": "{}"}
            assert is_refused(roles.put_role_policy, **policy)
            bound = {"RoleName": name}
            assert is_refused(roles.delete_role_permissions_boundary, **bound)
            taken = {
                "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/keyhaven/{name}",
                "RoleSessionName": "x",
            }
            assert is_refused(tokens.assume_role, **taken)
    assert is_refused(roles.create_user, UserName="somebody")


def test_it_changes_no_stack_and_rings_no_alarm(role, tenants, cell):
    stacks = role.caller.client("cloudformation")
    for stack in (cell.platform, *(tenant.stack for tenant, _ in tenants)):
        assert is_refused(stacks.delete_stack, StackName=stack.name)
        assert is_refused(stacks.describe_stacks, StackName=stack.name)
    said = {"TopicArn": cell.platform.outputs["AlarmTopic"], "Message": "all is well"}
    assert is_refused(role.caller.client("sns").publish, **said)
