"""The commands as they are given: what they refuse, what they say, and that trying is free."""

from __future__ import annotations

import json
import sys
from contextlib import chdir
from datetime import UTC, datetime, timedelta

import pytest

from infra.checks.differences import differences
from infra.command_line.entry import infra
from infra.command_line.tree import INFRA
from infra.installed import load
from infra.operate import smoke
from infra.operate.registry import ACTIVE, Registry
from infra.template.cell.ci import CI
from infra.template.cell.deployers import DEPLOYER
from infra.template.tables import our_tables
from tests.support.commands import with_build


def other(region, of_key):
    key = f"arn:aws:kms:{of_key}:123456789012:key/0a1b-2c3d"
    return "--set", f"OtherRegion={region}", "--set", f"OtherRegionKey={key}"


SENT_FROM_ACME = ("deploy", "acme", "--set", "MailIdentity=acme.example", "--set")
FROM_B = ("--mail-sender", "keyhaven@b.example")
VPCE = "vpce-0a1b2c3d4e5f60718"
ADMIN = ("--admin", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace")
CI_OF = ("--ci-issuer", "token.actions.githubusercontent.com", "--ci-subject")


@pytest.fixture
def give(cell, monkeypatch, capsys):
    """Gives a command in the cell's folder; returns what it shows, or says why it ends.

    Each is given by who may do the least of those who may give it.
    """
    monkeypatch.chdir(cell.build.folder.parent)

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", *with_build(words)])
        capsys.readouterr()
        with cell.watch.acting(giver(words)):
            try:
                infra()
            except SystemExit as ended:
                return str(ended.code)
        return capsys.readouterr().out

    return given


def giver(words) -> str | None:
    """The role; none where it takes an administrator."""
    if words[0] == "deploy" and (not words[1:] or words[1].startswith("--")):
        return None
    return CI if words[0] in ("plan", "status", "release", "deploy") else DEPLOYER


@pytest.fixture
def tenant(cell):
    cell.set_up()
    cell.onboard("acme")
    return cell


def state(cell):
    """All the deployer could have changed."""
    stacks = {name: stack.template for name, stack in cell.stacks.stacks.items()}
    entries = Registry(cell.account).every() if "keyhaven" in stacks else []
    called, reserved = len(cell.functions.called), dict(cell.functions.reserved)
    return json.dumps(stacks, sort_keys=True), entries, cell.tables(), called, reserved


def test_every_command_tells_what_it_is_for(give, capsys):
    for name, command in INFRA.places.items():
        assert give(name, "--help") == "0"
        assert load(command.module).DETAILS.split("\n")[0].split()[0] in capsys.readouterr().out


TRIED = [
    ("deploy",),
    ("deploy", "acme", "--set", "Dialect=specification"),
    ("onboard", "blue", *ADMIN),
    ("onboard", "blue", "--keys-from-replicas"),
    ("release",),
    ("restore", "acme", "--give-up"),
    ("restore", "acme", "--let-go"),
    ("offboard", "acme", "--export-to", "exports-keyhaven-acme"),
    ("offboard", "acme", "--destroy", "--sure", "acme"),
]


@pytest.mark.parametrize("words", TRIED, ids=" ".join)
def test_trying_says_the_steps_and_does_nothing(tenant, give, words):
    before = state(tenant)
    tenant.stacks.asked.clear()

    shown = give(*words, "--dry-run")

    assert "Nothing is done. Without --dry-run, the steps would be:\n1 " in shown
    assert state(tenant) == before
    assert tenant.stacks.asked == []


def test_a_cell_that_is_tried_says_what_nobody_is_asked_about(give, cell):
    given = ("--domain", "keyhaven.example", "--zone", "Z123")
    bundle = cell.build.bundle
    built = f"code {bundle.code_digest}, layer {bundle.layer_digest}.\nNothing is done."

    assert give("deploy", *given, "--region", "us-gov-east-1", "--dry-run").startswith(
        f"The cell in us-gov-east-1, with Domain=keyhaven.example, HostedZone=Z123; {built}"
    )
    assert give("deploy", "--dry-run").startswith(
        f"The cell in eu-central-1, with the parameters that it has; {built}"
    )


@pytest.mark.parametrize("region", ["eu-central", "eu-central-1a", "EU-central-1", "frankfurt"])
def test_what_is_no_region_is_not_asked(give, region):
    assert give("deploy", "--region", region, "--dry-run") == (
        f"{region!r} is no region; one is named such as eu-central-1."
    )


def test_a_restore_can_be_tried_too(tenant, give):
    before = state(tenant)
    moment = datetime.now(UTC) - timedelta(hours=1)

    shown = give("restore", "acme", "--to", moment.isoformat(), "--dry-run")

    assert "check all rows against each other" in shown
    assert state(tenant) == before


def test_a_restore_from_the_vault_says_which_copies_it_takes(tenant, give):
    before = state(tenant)
    *others, last = our_tables()
    for night, names in ((19, [*others, last]), (20, others)):
        for name in names:
            moment = datetime(2026, 11, night, 3, tzinfo=UTC)
            tenant.vault.note(f"keyhaven-acme-1-{name}", moment)

    shown = give("restore", "acme", "--from-vault", "--dry-run")

    assert "tables of epoch 1, made from 2026-11-19 03:00:00 to 03:00:00 UTC." in shown
    newer = "There is a newer set, which is not whole. That of 2026-11-20 03:00:00 UTC lacks: "
    assert f"{newer}{last}." in shown
    assert "Nothing is done." in shown
    empty = give("restore", "acme", "--from-vault", "--empty", last, "--dry-run")
    assert "made from 2026-11-20 03:00:00" in empty
    moment = "2026-11-20T02:00:00Z"
    assert "made from 2026-11-19 03:00:00" in give(
        *("restore", "acme", "--from-vault", "--before", moment, "--dry-run")
    )
    assert state(tenant) == before


def test_a_restore_from_the_vault_that_fails_names_the_copies_to_go_on_with(tenant, give):
    for name in our_tables():
        tenant.vault.note(f"keyhaven-acme-1-{name}", datetime(2026, 11, 20, 3, tzinfo=UTC))
    tenant.vault.fails["keyhaven-acme-2-users"] = "Access was denied."

    shown = give("restore", "acme", "--from-vault")

    assert shown.endswith("restore acme …, as before, with --before 2026-11-20T03:00:00Z")


def test_a_cell_and_a_tenant_from_nothing(cell, give):
    cell.topics.subscribed = {"ops@example.com": "PendingConfirmation"}
    shown = give("deploy", "--alarm-address", "ops@example.com")
    assert "4/4" in shown
    assert "ops@example.com is not, until they confirm: AWS has sent them a link" in shown
    assert "UTC on nobody can take that back, AWS neither" in shown

    shown = give("onboard", "acme", *ADMIN, "--base-url", cell.address, "--own")

    assert "/setup/start/" in shown
    entry = Registry(cell.account).fetch("acme")
    assert (entry.state, entry.is_own) == (ACTIVE, True)
    assert "acme" in give("status")
    assert f"BaseUrl = {cell.address}" in give("status", "acme")


@pytest.mark.parametrize("words", [("status", "acme"), ("plan", "acme"), ("release", "--dry-run")])
def test_a_command_signs_in_once(tenant, words):
    """A second session would ask for a second factor again."""
    opened = []

    def account(region):
        opened.append(region)
        return tenant.account

    with chdir(tenant.build.folder.parent):
        infra(with_build(words), account)

    assert opened == [None]


def test_a_release_says_first_whom_it_passes_over(tenant, give):
    registry = Registry(tenant.account)
    assert "passes over" not in give("release", "--dry-run")
    registry.begin("acme", "x", ACTIVE)
    registry.end("acme", "x", template="of before")

    give("hold", "acme")

    assert give("release", "--dry-run").startswith("The release passes over acme (held).")


def test_status_tells_how_far_logs_are_exported(tenant, give):
    registry, client = Registry(tenant.account), tenant.client("s3")
    assert "exported" not in give("status", "acme")
    exporting = {**registry.fetch("acme").parameters, "LogExport": "yes"}
    registry.begin("acme", "x", ACTIVE)
    registry.end("acme", "x", parameters=exporting)
    assert "no day of the logs is exported yet" in give("status", "acme")

    [bucket] = (each["Name"] for each in client.list_buckets()["Buckets"] if "acme" in each["Name"])
    for name in ("2026-11-20.jsonl.gz", "2026-11-19.jsonl.gz", "README"):
        client.put_object(Bucket=bucket, Key=f"audit/{name}", Body=b"")
    assert "logs are exported until 2026-11-20" in give("status", "acme")


def test_status_tells_what_is_unfinished(tenant, give):
    Registry(tenant.account).begin("acme", "restore acme 2026-11-21T08:00:00Z", ACTIVE)

    [_, line] = give("status").splitlines()

    assert line.split()[:3] == ["acme", "active", "standard"]
    assert "unfinished: restore acme 2026-11-21T08:00:00Z" in line


def test_a_plan_shows_what_would_change_and_changes_nothing(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")
    before = state(tenant)

    shown = give("plan", "acme", "--folder", "next")

    assert "Modify  AuthFunction (Lambda::Function)" in shown
    assert "Add     AuthVersion" in shown
    assert state(tenant) == before
    assert [each.change_sets for each in tenant.stacks.stacks.values()] == [{}, {}]


def test_a_plan_of_what_is_there_is_empty(tenant, give):
    assert give("plan", "acme") == "Nothing would change.\n"


def test_a_plan_needs_no_account_to_compare_builds(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")

    shown = give("plan", "--against", "build", "--folder", "next", "--tier", "trial")

    assert "Modify  AuthFunction (Lambda::Function): Properties.Code.S3Key" in shown


def test_a_plan_speaks_of_the_cell_too(tenant, give, tmp_path):
    next_build = tenant.next_build(tmp_path / "next").folder
    template = json.loads((next_build / "platform.json").read_text())
    template["Resources"]["AlarmTopic"]["Properties"]["DisplayName"] = "Other"
    (next_build / "platform.json").write_text(json.dumps(template))

    cell, _, of_tenant = give("plan", "--against", "build", "--folder", "next").partition(
        "A tenant"
    )

    assert "The cell:\n  Modify  AlarmTopic (SNS::Topic): Properties.DisplayName" in cell
    assert of_tenant.startswith(" of the tier standard:\n")
    assert give("plan", "--against", "build") == (
        "The cell:\n  Nothing would change.\n"
        "A tenant of the tier standard:\n  Nothing would change.\n"
    )


@pytest.mark.parametrize(
    ("file", "name", "change", "said"),
    [
        ("tenant-standard", "UsersTable1", {"TableName": "x"}, "its TableName changes"),
        ("platform", "VaultKey", {"MultiRegion": True}, "its MultiRegion changes"),
    ],
)
def test_a_plan_refuses_a_replaced_table_and_a_changed_key(
    tenant, give, tmp_path, capsys, file, name, change, said
):
    template = tenant.next_build(tmp_path / "next").folder / f"{file}.json"
    changed = json.loads(template.read_text())
    changed["Resources"][name]["Properties"].update(change)
    template.write_text(json.dumps(changed))

    refused = give("plan", "--against", "build", "--folder", "next")

    assert "data would be left behind" in refused
    assert said in refused
    assert f"Modify  {name}" in capsys.readouterr().out


def test_differences_are_told_to_where_they_lie():
    old = {"Resources": {"A": {"Type": "AWS::X", "Properties": {"n": 1}}, "B": {"Type": "AWS::Y"}}}
    new = {"Resources": {"A": {"Type": "AWS::X", "Properties": {"n": 2}}, "C": {"Type": "AWS::Z"}}}

    assert differences(old, new) == [
        "Remove  B (Y)",
        "Add     C (Z)",
        "Modify  A (X): Properties.n",
    ]


def test_a_difference_in_what_a_stack_is_told_and_tells_is_one():
    old = {
        "Parameters": {"Days": {"Default": "0"}},
        "Conditions": {"HasDays": {"Fn::Equals": [{"Ref": "Days"}, "0"]}},
        "Resources": {},
        "Outputs": {"Url": {"Value": "x"}},
    }
    new = {
        "Parameters": {"Days": {"Default": "1"}, "Name": {}},
        "Conditions": {"HasDays": {"Fn::Equals": [{"Ref": "Days"}, "1"]}},
        "Resources": {},
    }

    assert differences(old, new) == [
        "Add     Name (parameter)",
        "Modify  Days (parameter): Default",
        "Modify  HasDays (condition): Fn::Equals",
        "Remove  Url (output)",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan",), "Name a TENANT, or a folder with --against."),
        (("plan", "acme", "--against", "build"), "or a folder with --against, not both."),
        (("plan", "--against", "then"), "`keyhaven infra build --folder then`, with the code of"),
        (("plan", "nobody"), "There is no tenant 'nobody' in this cell"),
        (("plan", "acme", "--folder", "nowhere"), "infra build --folder nowhere` makes it."),
        (("plan", "--against", "build", "--folder", "x"), "build --folder x` makes it."),
        (("deploy", "acme", "--set", "Dialect"), "Not NAME=VALUE: Dialect."),
        (("deploy", "acme", "--set", "dialect=clients"), "Do you mean Dialect?"),
        (("deploy", "acme", "--set", "Dialect=client"), "Do you mean clients?"),
        (("deploy", "acme", "--set", "TenantId=other"), "No parameter of any tier: TenantId"),
        (("deploy", "acme", "--set", "Removable=yes"), "No parameter of the tier standard"),
        (("onboard", "code", *ADMIN), "No tenant is called code"),
        (("onboard", "b" * 29, *ADMIN), "In eu-central-1 a tenant's name has at most 28 char"),
        (("deploy", "acme", "--set", "MailSender=not an address"), "MailSender cannot be"),
        (("deploy", "acme", "--set", f"BaseUrl=https://{'x' * 200}"), "of at most 200"),
        (("deploy", "acme", "--set", "DomainName=a.example.com"), "has no certificate"),
        (("deploy", "acme", "--domain", "example.com"), "are of a cell"),
        (("deploy", "--set", "Dialect=clients"), "--set is of a tenant"),
        (("deploy", "--alarm-address", "nobody"), "AlarmAddress cannot be 'nobody'"),
        (("deploy", "--domain", "example.com"), "go together"),
        (("deploy", "--domain", "Example.com", "--zone", "Z123"), "such as keyhaven.example."),
        (("deploy", "--domain", "example.com", "--zone", "example.com"), "HostedZone cannot be"),
        (("deploy", "--other-vault", "there"), "OtherVault cannot be"),
        (("deploy", "--deployers", "ada"), "Deployers cannot be 'ada'. Who runs tenants"),
        (("deploy", "--deployers", "arn:aws:iam::111122223333:role/any"), "no roles."),
        (("deploy", "acme", "--deployers", "111122223333"), "are of a cell"),
        (("deploy", "--ci-issuer", "ci.example.com"), "go together"),
        (("deploy", "--ci-issuer", "https://ci", "--ci-subject", "main"), "CiIssuer cannot be"),
        (("deploy", *CI_OF, "repo:acme/*"), "CiSubject cannot be"),
        (("deploy", "acme", "--ci-subject", "main"), "are of a cell"),
        (("onboard", "blue", *ADMIN, "--mail-sender", "x"), "MailSender cannot be"),
        (("deploy", "acme", "--set", "VpcEndpoints=vpce-1"), "VpcEndpoints cannot be 'vpce-1'"),
        (("deploy", "acme", "--set", f"VpcEndpoints={VPCE} {VPCE}"), "with commas between them"),
        (("deploy", "acme", "--set", f"VpcEndpoint={VPCE}"), "Do you mean VpcEndpoints?"),
        (("deploy", "acme", "--set", f"VpcEndpoints={VPCE}"), f"BaseUrl=https://<ApiId>-{VPCE}.ex"),
        (
            ("deploy", "acme", "--set", f"VpcEndpoints={VPCE}", "--set", "DomainName=a.example"),
            "exclude each other",
        ),
        (("onboard", "blue", *ADMIN, "--vpc-endpoints", "subnet-0a1b2c3d"), "VpcEndpoints cannot"),
        (
            ("onboard", "blue", *ADMIN, "--vpc-endpoints", VPCE, "--domain", "blue.example"),
            "exclude each other",
        ),
        (("deploy", "acme", "--set", "MailIdentity=@acme.example"), "MailIdentity cannot be"),
        (("deploy", "acme", "--set", "MailZone=Z123"), "MailZone is of MailIdentity"),
        (
            (*SENT_FROM_ACME, "MailSender=keyhaven@other.example"),
            "an address at acme.example, the MailIdentity; not keyhaven@other.example",
        ),
        (
            (*SENT_FROM_ACME, "MailSender=keyhaven@mails.acme.example"),
            "MailSender is an address at acme.example",
        ),
        (
            (*SENT_FROM_ACME, "MailSender=keyhaven@acme.example"),
            "SES has not verified acme.example, and would refuse mails from keyhaven@acme.example",
        ),
        (("onboard", "blue", *ADMIN, "--mail-identity", "a@b.example"), "MailIdentity cannot be"),
        (
            *(("onboard", "blue", *ADMIN, "--mail-identity", "b.example", *FROM_B),),
            "SES has to verify MailIdentity before mails leave",
        ),
        (("restore", "nobody", "--give-up"), "There is no tenant 'nobody'"),
        (("restore", "acme", "--to", "2020-01-01T00:00:00Z"), "from 35 days to five minutes ago"),
        (("restore", "acme", "--from-vault"), "holds no whole copy of a table of acme."),
        (("restore", "acme", "--from-vault", "--empty", "user"), "There is no table user."),
        (("restore", "acme", "--give-up", "--epoch", "1"), "--epoch: only with --from-vault."),
        (("restore", "nobody", "--let-go", "--empty", "x"), "--empty: only with --from-vault."),
        (("offboard", "acme", "--destroy"), "Nobody can undo this. If you mean it"),
        (("offboard", "acme", "--destroy", "--sure", "other"), "Nobody can undo this."),
        (("onboard", "blue", *ADMIN, "--domain", "blue.example"), "has no certificate"),
        (("onboard", "blue", *ADMIN, "--removable"), "is of a trial: give --tier trial"),
        (("onboard", "blue", *ADMIN, "--admin", "ada"), "username should be a valid email"),
        (("onboard", "blue", *ADMIN, "--last-name", ""), "last name should not be empty"),
        (("onboard", "blue"), "Give --admin, --first-name and --last-name."),
        (("onboard", "blue", *ADMIN, "--keys-from-replicas"), "nobody is invited"),
        (("deploy", "acme", "--set", "OtherRegion=eu-west-1"), "OtherRegionKey go together"),
        (
            ("deploy", "acme", *other("eu-central-1", "eu-central-1")),
            "eu-central-1 is the tenant's own region",
        ),
        (
            ("deploy", "acme", *other("eu-west-1", "eu-central-1")),
            "OtherRegionKey is no key of eu-west-1",
        ),
        (("onboard", "blue", *ADMIN, "--own-record"), "--own-record is of a name"),
        (("deploy", "acme", "--set", "ReadingDays=1", "--set", "ReadingDays=2"), "more than once"),
        (("deploy", "acme", "--set", "LogExport=on"), "LogExport is 'on'"),
        (("deploy", "acme", "--set", "LogExportDays=7"), "LogExportDays cannot be '7'"),
        (
            ("deploy", "acme", "--set", "LogExport=yes", "--set", "ReadingDays=13"),
            "ReadingDays is 14 at least",
        ),
        (("plan", "--against", "build/code.zip"), "is missing; `keyhaven infra build --folder"),
        (
            ("plan", "acme", "--folder", "build/code.zip"),
            "is missing; `keyhaven infra build --folder",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_done_is_refused_before_anything_is(tenant, give, words, said):
    """Also where it is only tried: what is tried is what would be done."""
    before = state(tenant)

    assert said in give(*words)
    if words[0] not in ("plan", "status"):
        assert said in give(*words, "--dry-run")

    assert state(tenant) == before


@pytest.mark.parametrize(
    "words",
    [
        ("onboard", "Acme", *ADMIN),
        ("onboard", "a", *ADMIN),
        ("restore", "acme", "--to", "yesterday"),
        ("restore", "acme", "--to", "2026-11-21T08:00:00"),
        ("restore", "acme"),
        ("restore", "acme", "--from-vault", "--to", "2026-11-21T08:00:00Z"),
        ("restore", "acme", "--from-vault", "--of-cell", "eu-west-1"),
        ("release", "--watch=-1"),
        ("offboard", "acme"),
    ],
)
def test_a_command_that_is_none_is_not_begun(give, words):
    assert give(*words) == "2"


def test_a_build_of_other_code_is_refused(tenant, give):
    template = tenant.build.folder / "tenant-trial.json"
    template.write_text(template.read_text().replace("Keyhaven", "Kayhaven"))

    assert "was built from other code" in give("plan", "acme")


def test_a_build_that_was_cut_short_is_refused(tenant, give):
    layer = tenant.build.folder / "layer.zip"
    layer.write_bytes(layer.read_bytes()[:-1])

    assert "or not to its end" in give("plan", "acme")


def test_what_is_no_template_cannot_be_compared(tenant, give):
    (tenant.build.folder / "platform.json").write_text("{")

    assert "platform.json cannot be read" in give("plan", "--against", "build")


@pytest.mark.parametrize("written", ["{}", "[]", '{"Resources": []}', '{"Resources": {"A": 1}}'])
def test_what_has_no_resources_is_no_template(tenant, give, written):
    (tenant.build.folder / "platform.json").write_text(written)

    assert "platform.json is no template; `keyhaven infra build --folder build`" in give(
        "plan", "--against", "build"
    )


@pytest.mark.parametrize("written", ["", '{"users": "1', "[]", '{"users": 1}', '{"users": "1 2"}'])
def test_what_says_nothing_of_forms_cannot_be_followed(cell, give, written):
    (cell.build.folder / "forms.json").write_text(written)

    assert give("check", "--after", "build") == (
        "build/forms.json cannot be read; `keyhaven infra build --folder build`, with the code of "
        "then, makes it anew."
    )


def test_a_build_follows_one_that_is_there(give):
    assert (
        give("check", "--after", "nowhere") == "nowhere/ has no build that this one could follow."
    )


def test_what_stands_in_the_way_of_a_build_is_one_sentence(give, tmp_path):
    (tmp_path / "file").touch()

    assert give("build", "--folder", "file") == "file: File exists."


def test_what_is_wrong_is_told_before_any_account_is_asked(give):
    """Also where the cell has no platform yet: a deployment is planned before there is one."""
    assert "Do you mean clients?" in give("deploy", "acme", "--set", "Dialect=client")
    assert "No parameter of any tier: Name" in give("deploy", "acme", "--set", "Name=acme")
    assert "at most 28 characters" in give("onboard", "b" * 29, *ADMIN)
    assert give("onboard", "b" * 28, *ADMIN).startswith("This cell has no platform yet")
    assert "MailSender cannot be" in give("onboard", "blue", *ADMIN, "--mail-sender", "x")
    assert "BaseUrl cannot be" in give("onboard", "blue", *ADMIN, "--base-url", "https://x/")


def test_the_record_of_a_new_name_is_told_where_nothing_answers_at_it_yet(
    tenant, give, monkeypatch
):
    """It leads to what the gateway has just made, which nobody could know before."""
    tenant.set_up(Domain="keyhaven.example", HostedZone="Z123")
    monkeypatch.setattr(smoke, "_get", refused)

    said = give("deploy", "acme", "--set", "DomainName=acme.keyhaven.example")

    assert "https://acme.keyhaven.example/healthcheck/status.json does not answer" in said
    assert "Make a record A of acme.keyhaven.example, an alias to" in said


def refused(_):
    raise OSError


def test_a_tenant_does_not_lose_its_name_without_another_address(tenant, give):
    registry = Registry(tenant.account)
    named = {**registry.fetch("acme").parameters, "DomainName": "acme.keyhaven.example"}
    registry.begin("acme", "x", ACTIVE)
    registry.end("acme", "x", parameters=named)
    taken_away = ("deploy", "acme", "--dry-run", "--set", "DomainName=")

    assert "give it too" in give(*taken_away)
    assert "would be" in give(*taken_away, "--set", f"BaseUrl={tenant.address}")


def test_a_plan_of_a_tenant_refuses_a_replaced_table(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")
    resources = tenant.stacks.stacks["keyhaven-acme"].template["Resources"]
    resources["UsersTable1"]["Properties"]["TableName"] = "another"
    before = state(tenant)

    for command in ("plan", "deploy"):
        assert "UsersTable1 (DynamoDB::Table) would be another" in give(
            command, "acme", "--folder", "next"
        )
        assert json.loads(state(tenant)[0]) == json.loads(before[0])


def test_a_cell_is_not_changed_where_its_data_would_be_left(tenant, give):
    resources = tenant.stacks.stacks["keyhaven"].template["Resources"]
    resources["Registry"]["Properties"]["TableName"] = "another"
    tenant.stacks.asked.clear()

    assert "Registry (DynamoDB::Table) would be another" in give("deploy")
    assert tenant.stacks.asked == []


def test_a_restore_changes_no_template(tenant, give):
    Registry(tenant.account).begin("acme", "x", ACTIVE)
    Registry(tenant.account).end("acme", "x", template="of before")
    moment = (datetime.now(UTC) - timedelta(hours=1)).isoformat()

    assert "a restore changes the data alone" in give("restore", "acme", "--to", moment)


def test_a_restore_changes_no_code(tenant, give, tmp_path):
    tenant.next_build(tmp_path / "next")
    moment = (datetime.now(UTC) - timedelta(hours=1)).isoformat()

    assert "a restore changes the data alone" in give(
        *("restore", "acme", "--to", moment, "--folder", "next")
    )


def test_what_aws_refuses_is_one_sentence(cell, give):
    """Without a platform there is no registry."""
    assert give("status").startswith("AWS cannot be asked: ")
