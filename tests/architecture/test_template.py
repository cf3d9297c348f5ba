"""The stack of a tenant is what the code needs and no more, and whoever breaks it is told."""

from __future__ import annotations

import json
import pickle
import re
from copy import deepcopy
from dataclasses import replace

import pytest

from chalicelib.endpoint_groups import GROUPS, WORKERS
from infra.bundle.bundle import Bundle
from infra.checks import CHECKS, OF_A_CELL, findings, findings_of_a_cell, quotas
from infra.checks.reading import as_list, named, of_kind
from infra.checks.rights import allowed_by, functions
from infra.template.alarms import OF_RECIPIENTS
from infra.template.cell.platform import platform
from infra.template.elements import digest, merged, text
from infra.template.functions import FUNCTIONS
from infra.template.given import given
from infra.template.tenant import tenant
from infra.template.tiers import PREMIUM, STANDARD, TIERS, TRIAL
from tests.architecture.faults import FAULTS, FAULTS_OF_A_CELL, properties

BUNDLE = Bundle("c" * 16, "d" * 16)
TEMPLATE = tenant(STANDARD, BUNDLE)
PLATFORM = platform(BUNDLE)


def names_of(kind, template=TEMPLATE):
    return {name for name, _ in of_kind(template, kind)}


def each_of(which, is_meant=lambda _: True):
    return {each.name for each in which if is_meant(each)}


def with_other_versions(template, before=TEMPLATE):
    """The functions of which the template has another version."""
    versions = names_of("Lambda::Version", before) - names_of("Lambda::Version", template)
    return {
        each.name
        for each in FUNCTIONS
        if any(map(re.compile(f"{each.version}[0-9a-f]{{12}}").fullmatch, versions))
    }


WRITTEN = pickle.dumps(TEMPLATE)
"""Read anew, which takes a fifth of the time of copying it."""


def broken(fault):
    template = pickle.loads(WRITTEN)
    FAULTS[fault].make(template)
    return template


def broken_cell(fault):
    template = deepcopy(PLATFORM)
    FAULTS_OF_A_CELL[fault].make(template)
    return template


def is_told(fault, template):
    return any(fault.found in said for said in fault.by(template))


@pytest.mark.parametrize("tier", TIERS)
def test_nothing_is_wrong_with_a_template(tier):
    assert findings(tenant(TIERS[tier], BUNDLE)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault):
    template = broken(fault)
    assert is_told(FAULTS[fault], template), findings(template)


def test_nothing_is_wrong_with_the_template_of_a_cell():
    assert findings_of_a_cell(PLATFORM) == []


@pytest.mark.parametrize("fault", FAULTS_OF_A_CELL)
def test_a_fault_of_a_cell_is_found(fault):
    template = broken_cell(fault)
    assert is_told(FAULTS_OF_A_CELL[fault], template), findings_of_a_cell(template)


def test_what_a_check_tells_is_among_all_that_is_wrong():
    assert any(FAULTS["scan"].found in said for said in findings(broken("scan")))
    said = findings_of_a_cell(broken_cell("code without TLS"))
    assert any(FAULTS_OF_A_CELL["code without TLS"].found in each for each in said)


def test_every_check_finds_something():
    assert {fault.by for fault in FAULTS.values()} == set(CHECKS)
    assert {fault.by for fault in FAULTS_OF_A_CELL.values()} <= set(OF_A_CELL)


def test_each_group_and_worker_is_a_function_of_its_own():
    found = {group.name for group, _ in functions(TEMPLATE)}
    assert found == {group.name for group in (*GROUPS, *WORKERS)}
    assert len(names_of("Lambda::Function")) == len(found)


def test_whatever_can_have_a_name_has_one_of_its_tenant():
    """Two tenants of one account have nothing in common."""
    for name, resource in TEMPLATE["Resources"].items():
        for member, value in resource["Properties"].items():
            is_name = member in ("Name", "AliasName") or member in {
                f"{kind}Name" for kind in ("Table", "Bucket", "Function", "LogGroup", "Role")
            }
            if is_name and not (named(value) - {"TenantId"} or value == "live"):
                assert "TenantId" in named(value), name


def test_other_code_makes_other_versions():
    versions = names_of("Lambda::Version")
    assert not versions & names_of("Lambda::Version", tenant(STANDARD, Bundle("e" * 16, "d" * 16)))
    assert not versions & names_of("Lambda::Version", tenant(STANDARD, Bundle("c" * 16, "e" * 16)))
    assert versions == names_of("Lambda::Version", tenant(STANDARD, BUNDLE))


IN_A_NETWORK = {"DirectorySubnets": "subnet-0a1b2c3d", "DirectorySecurityGroup": "sg-0a1b2c3d"}
ARE_TOLD = (
    *(({name: "other"}, each_of(FUNCTIONS)) for name in ("BaseUrl", "SupportAddress", "LayerArn")),
    ({"Dialect": "clients"}, each_of(FUNCTIONS)),
    ({"MailSender": "keyhaven@acme.example"}, each_of(FUNCTIONS)),
    ({"Traces": "yes"}, each_of(FUNCTIONS, lambda each: each.is_served)),
    ({"SnapStart": "yes"}, each_of(FUNCTIONS, lambda each: each.is_served)),
    ({"ReadingDays": "400"}, each_of(FUNCTIONS, lambda each: each.group.keeps_readings)),
    ({"LogExport": "yes"}, each_of(FUNCTIONS, lambda each: each.group.exports_logs)),
    (IN_A_NETWORK, each_of(FUNCTIONS, lambda each: each.group.asks_directory)),
    ({"VpcEndpoints": "vpce-0a1b2c3d"}, {"prober"}),
)


@pytest.mark.parametrize(
    ("values", "told"), ARE_TOLD, ids=["-".join(values) for values, _ in ARE_TOLD]
)
def test_another_setting_makes_other_versions_of_the_functions_that_are_told_it(values, told):
    """CloudFormation publishes a version once, whatever becomes of its function's environment.

    Of a function that has not changed Lambda publishes none, and CloudFormation undoes it all. The
    prober is told the other versions.
    """
    is_known = {"prober"} if told & {each.name for each in FUNCTIONS if each.is_served} else set()
    assert with_other_versions(tenant(STANDARD, BUNDLE, values=values)) == told | is_known


@pytest.mark.parametrize(
    "values",
    [
        {"Traces": "no"},
        {"DirectorySubnets": "subnet-0a1b2c3d"},
        {"LogExportDays": "30"},
        {"MailZone": "Z123"},
    ],
    ids=str,
)
def test_what_changes_no_function_makes_no_other_versions(values):
    """The same as before, what counts beside another alone, and what is for other resources."""
    assert with_other_versions(tenant(STANDARD, BUNDLE, values=values)) == set()


def test_other_endpoints_make_no_other_versions():
    one, other = (
        tenant(STANDARD, BUNDLE, values={"VpcEndpoints": name})
        for name in ("vpce-0a1b2c3d", "vpce-1a2b3c4d")
    )
    assert names_of("Lambda::Version", one) == names_of("Lambda::Version", other)


def test_subnets_in_another_order_make_no_other_versions():
    one, other = (
        tenant(STANDARD, BUNDLE, values={**IN_A_NETWORK, "DirectorySubnets": ",".join(subnets)})
        for subnets in (
            ("subnet-0a1b2c3d", "subnet-1a2b3c4d"),
            ("subnet-1a2b3c4d", "subnet-0a1b2c3d"),
        )
    )
    assert names_of("Lambda::Version", one) == names_of("Lambda::Version", other)


@pytest.mark.parametrize("values", [{}, {"SnapStart": "yes"}], ids=str)
def test_another_tier_makes_other_versions_only_of_what_it_changes(values):
    """What always waits has no snapshot, and a trial's prober is told no new versions."""
    trial, standard, premium = (
        tenant(tier, BUNDLE, values=values) for tier in (TRIAL, STANDARD, PREMIUM)
    )
    has_snapshots = {*PREMIUM.warm, "prober"} if values else set()
    assert with_other_versions(trial, standard) == {"prober"}
    assert with_other_versions(premium, standard) == has_snapshots


def test_more_instances_make_no_other_versions():
    more = replace(PREMIUM, reserved=200)
    assert with_other_versions(tenant(more, BUNDLE), tenant(PREMIUM, BUNDLE)) == set()


def test_who_is_told_a_setting_is_tried_with_all_that_functions_have():
    told = {
        name
        for _, each in of_kind(TEMPLATE, "Lambda::Function")
        for name in named([each["Environment"], each["Layers"], each.get("VpcConfig")])
    }
    told |= named([TEMPLATE["Conditions"][each] for each in ("HasSnapStart", "IsPrivate")])
    tried = {name for values, _ in ARE_TOLD for name in values}
    assert told & TEMPLATE["Parameters"].keys() - {"TenantId"} == tried


@pytest.mark.parametrize("tier", TIERS)
def test_whoever_answers_may_begin_from_a_snapshot_unless_it_always_waits(tier):
    asked = {
        name.removesuffix("Function").lower()
        for name, each in of_kind(tenant(TIERS[tier], BUNDLE), "Lambda::Function")
        if "SnapStart" in each
    }
    served = {each.name.replace("_", "") for each in FUNCTIONS if each.is_served}
    assert asked == served - TIERS[tier].warm


def test_another_epoch_has_tables_of_its_own_and_all_functions_use_them():
    """A restore lets go of the old tables, and takes nothing away."""
    second = tenant(STANDARD, BUNDLE, epoch=2)
    assert findings(second) == []
    assert not names_of("DynamoDB::Table") & names_of("DynamoDB::Table", second)
    told = {
        each["Environment"]["Variables"]["TABLE_PREFIX"]["Fn::Sub"]
        for _, each in of_kind(second, "Lambda::Function")
    }
    assert told == {"keyhaven-${TenantId}-2-"}


def test_another_api_is_deployed_anew():
    """The gateway serves a copy of what it was when it was deployed."""
    of_tier = given(TEMPLATE["Parameters"], TEMPLATE["Conditions"], {})
    properties = TEMPLATE["Resources"]["Api"]["Properties"]
    [deployment] = names_of("ApiGateway::Deployment")
    assert deployment == f"Deployment{digest(of_tier.settled(properties))}"
    assert TEMPLATE["Resources"]["Stage"]["Properties"]["DeploymentId"] == {"Ref": deployment}


@pytest.mark.parametrize(
    "values",
    [{"VpcEndpoints": "vpce-0a1b2c3d"}, {"DomainName": "acme.keyhaven.example"}],
    ids=["endpoints", "a name"],
)
def test_another_way_to_the_api_is_deployed_anew(values):
    """Else the gateway goes on to ask who came by those of before.

    And to refuse who comes by its own address, where the tenant has no name any more.
    """
    other = tenant(STANDARD, BUNDLE, values=values)
    assert not names_of("ApiGateway::Deployment") & names_of("ApiGateway::Deployment", other)


def test_what_is_nothing_to_the_api_is_not_deployed_anew():
    other = tenant(STANDARD, BUNDLE, values={"ReadingDays": "400", "DomainName": ""})
    assert names_of("ApiGateway::Deployment") == names_of("ApiGateway::Deployment", other)


@pytest.mark.parametrize("tier", TIERS)
def test_the_prober_may_ask_what_it_watches_inside(tier):
    """A trial too, which has no gradual releases and so no versions that are asked before."""
    of_tier = tenant(TIERS[tier], BUNDLE)
    [prober] = (
        each for name, each in of_kind(of_tier, "Lambda::Function") if name == "ProberFunction"
    )
    [statements] = (said for group, said in functions(of_tier) if group.name == "prober")
    asked = named(prober["Environment"]["Variables"]["WATCHED"])
    assert asked == {"PublicFunction", "AuthFunction"}
    assert {("lambda:InvokeFunction", name) for name in asked} <= set(allowed_by(statements))


def test_only_a_trial_may_be_removed():
    for tier in TIERS.values():
        parameters = tenant(tier, BUNDLE)["Parameters"]
        assert ("Removable" in parameters) == (tier is TRIAL)
    assert tenant(TRIAL, BUNDLE)["Parameters"]["Removable"]["Default"] == "no"


@pytest.mark.parametrize("tier", TIERS)
def test_an_alarm_hears_as_many_calls_of_a_worker_as_have_to_fail(tier):
    """Else what fails with every call never rings."""
    made = dict(of_kind(tenant(TIERS[tier], BUNDLE), "CloudWatch::Alarm"))
    for which in FUNCTIONS:
        if which.group.is_scheduled:
            errors = made[which.errors]
            assert errors["Period"] // which.every >= errors["Threshold"]
            assert errors["EvaluationPeriods"] == 1


def test_alarms_are_those_of_the_tier():
    scheduled = len([worker for worker in WORKERS if worker.is_scheduled])
    always = 2 * len(FUNCTIONS) + scheduled + 1
    assert len(names_of("CloudWatch::Alarm", tenant(TRIAL, BUNDLE))) == always
    called_by_rows = len([worker for worker in WORKERS if worker.follows])
    of_mails = len(OF_RECIPIENTS)
    further = len(names_of("DynamoDB::Table")) + len(GROUPS) + 2 * called_by_rows + 2 + of_mails
    assert len(names_of("CloudWatch::Alarm")) == always + further


def test_only_premium_tenants_have_instances_of_their_own():
    def reserved(template):
        return {
            name
            for name, each in of_kind(template, "Lambda::Function")
            if each["ReservedConcurrentExecutions"] != {"Ref": "AWS::NoValue"}
        }

    assert reserved(tenant(PREMIUM, BUNDLE)) == {"AuthFunction"}
    assert reserved(TEMPLATE) == set()


@pytest.mark.parametrize("tier", TIERS)
def test_no_role_is_given_more_than_the_bound_lets_it_do(tier):
    """A right beyond the bound is none: it would show in the cloud alone."""
    bound = dict(of_kind(PLATFORM, "IAM::ManagedPolicy"))["Boundary"]
    most = {
        action
        for statement in bound["PolicyDocument"]["Statement"]
        for action in as_list(statement["Action"])
    }
    roles = of_kind(tenant(TIERS[tier], BUNDLE), "IAM::Role")
    beside = of_kind(tenant(TIERS[tier], BUNDLE), "IAM::Policy")
    policies = [policy for _, role in roles for policy in role["Policies"]]
    given = {
        action
        for policy in (*policies, *(each for _, each in beside))
        for action, _ in allowed_by(policy["PolicyDocument"]["Statement"])
    }
    assert given <= most
    assert not any("*" in action for action in most)


def test_a_tenant_is_told_of_its_platform_what_that_says():
    said = PLATFORM["Outputs"].keys()
    assert {"CodeBucket", "LayerArn", "AlarmTopic", "PermissionsBoundary"} <= said
    of_the_cell = {"VaultName", "Domain", "RestoreRoleArn", "CopiesKeyArn"}
    roles = {"TenantsRole", "DeployerRole", "CiRole"}
    assert said & TEMPLATE["Parameters"].keys() == said - of_the_cell - roles


@pytest.mark.parametrize("tenant_id", ["a", "A1", "1a", "-a", "a" * 32, "a_b", "a\n"])
def test_what_is_no_tenant_id_is_refused(tenant_id):
    pattern = TEMPLATE["Parameters"]["TenantId"]["AllowedPattern"]
    assert re.fullmatch(pattern.strip("^$"), tenant_id) is None
    assert re.fullmatch(pattern.strip("^$"), "acme-1")


def test_the_longest_names_fit():
    longest = max((group.name for group in (*GROUPS, *WORKERS)), key=len)
    assert len(f"keyhaven-{'a' * 31}-{longest}") <= 64
    assert len(f"keyhaven-{'a' * 31}-{'1' * 12}") <= 63, "as older tenants' buckets are named"


def test_copies_of_tables_are_under_a_key_of_the_cell_which_stays():
    [(name, vault)] = of_kind(PLATFORM, "Backup::BackupVault")
    [key] = named(vault["EncryptionKeyArn"])
    assert PLATFORM["Resources"][key]["DeletionPolicy"] == "Retain"
    [plan] = (each["BackupPlan"] for _, each in of_kind(PLATFORM, "Backup::BackupPlan"))
    assert {named(rule["TargetBackupVault"]).pop() for rule in plan["BackupPlanRule"]} == {name}
    for name in ("BackupRole", "RestoreRole"):
        role = PLATFORM["Resources"][name]["Properties"]
        used, *_ = [each for it in role["Policies"] for each in it["PolicyDocument"]["Statement"]]
        assert named(used["Resource"]) == {key}


def test_nobody_reaches_the_code_without_tls():
    policies = {name for _, each in of_kind(PLATFORM, "S3::BucketPolicy") for name in named(each)}
    assert names_of("S3::Bucket", PLATFORM) <= policies


def test_what_comes_back_is_heard_where_the_set_counts_it():
    """By the name SES gives the set, as the dimension it counts by."""
    [events] = (each for _, each in of_kind(TEMPLATE, "SES::ConfigurationSetEventDestination"))
    [counts] = events["EventDestination"]["CloudWatchDestination"]["DimensionConfigurations"]
    [made] = (each for _, each in of_kind(TEMPLATE, "SES::ConfigurationSet"))
    alarms = dict(of_kind(TEMPLATE, "CloudWatch::Alarm"))
    for name in OF_RECIPIENTS:
        [dimension] = alarms[name]["Dimensions"]
        assert dimension == {"Name": counts["DimensionName"], "Value": made["Name"]}
        assert TEMPLATE["Resources"][name]["Condition"] == "HasMailIdentity"
    heard = {alarms[name]["MetricName"].lower() for name in OF_RECIPIENTS}
    assert heard == set(events["EventDestination"]["MatchingEventTypes"])


@pytest.mark.parametrize("tier", TIERS)
def test_who_is_told_of_an_alarm_is_told_of_its_end(tier):
    for name, alarm in of_kind(tenant(TIERS[tier], BUNDLE), "CloudWatch::Alarm"):
        assert alarm["OKActions"] == alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}], name


def test_no_table_costs_without_end():
    for name, table in of_kind(TEMPLATE, "DynamoDB::Table"):
        for each in (table, *table.get("GlobalSecondaryIndexes", ())):
            assert set(each["OnDemandThroughput"]) == {
                *("MaxReadRequestUnits", "MaxWriteRequestUnits"),
            }, name


def test_the_gateway_makes_no_log_that_nobody_declared():
    [stage] = (each for _, each in of_kind(TEMPLATE, "ApiGateway::Stage"))
    assert {each["LoggingLevel"] for each in stage["MethodSettings"]} == {"OFF"}
    assert "$context.error.responseType" in json.loads(stage["AccessLogSetting"]["Format"]).values()


def test_buckets_of_a_name_in_two_regions_are_two():
    [bucket] = (each for _, each in of_kind(TEMPLATE, "S3::Bucket"))
    condition, by_region, plain = bucket["BucketName"]["Fn::If"]
    assert (condition, TEMPLATE["Parameters"]["BucketNamedByRegion"]["Default"]) == (
        "HasRegionInName",
        "no",
    )
    assert by_region["Fn::Sub"] == plain["Fn::Sub"] + "-${AWS::Region}"


def test_a_template_is_written_the_same_each_time():
    assert text(tenant(STANDARD, BUNDLE)) == text(TEMPLATE)
    assert json.loads(text(TEMPLATE)) == TEMPLATE


def test_two_resources_of_one_name_are_a_mistake():
    with pytest.raises(ValueError, match="names twice: Api"):
        merged({"Api": {}}, {"Api": {}})


def test_a_cell_of_standard_tenants_fits():
    for quota in quotas.OF_A_CELL:
        assert quota.most(TEMPLATE) >= quotas.CELL, quota.what


def with_a_long_policy(template):
    """Beside the role's own, of which it is a part for AWS."""
    [statement, _] = properties(template, "SynchroniserNetwork")["PolicyDocument"]["Statement"]
    statement["Sid"] = "x" * 2_000


def with_another_path(template):
    paths = properties(template, "Api")["Body"]["paths"]
    paths["/one-more.json"] = paths["/"]


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (with_a_long_policy, "The characters of a role's policies are "),
        (with_another_path, "The resources of the API are 301, above 300."),
    ],
)
def test_what_no_stack_can_have_is_told(add, said):
    template = pickle.loads(WRITTEN)
    add(template)
    assert [each for each in quotas.exceeded(template) if each.startswith(said)]
