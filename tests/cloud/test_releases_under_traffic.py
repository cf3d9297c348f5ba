"""Releases under steady traffic: another form of rows, a broken build, and back to the one before.

People sign in, store, change, read and list all the while, through the address of one tenant in a
cell of its own, since a release reaches every tenant of a cell. Each release is a checkout of
today's code with a change, whose own `keyhaven infra release` brings it: what knows a second form
of rows and writes the first, then what writes the second; the sweeper upgrades the rows; a build
that answers every request with 500; then the earlier of the two again, which is to bring the rows
back.

The local cloud has no shares of traffic: aliases lead to the versions of before until the prober
has asked the new ones, and then to these alone (`infra/local_cloud/releases.py`). On AWS a tenth
of the requests goes there first, for five minutes, and only where the prober has no objection.
So it is shown here that a build which fails always is given no request at all but the prober's,
and that nobody notices the moment at which an alias moves. How many would meet a build that the
prober takes for a good one is CodeDeploy's matter, and not shown. Nor is it that old versions are
removed beside the traffic: the local cloud answers nobody while it removes one, since it has a
copy of the layer for each process that ran it.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from infra.local_cloud.process import LocalCloud, running
from infra.operate.tables import rows
from infra.template.functions import FUNCTIONS
from infra.template.tables import our_tables
from integrity.invariants import violations
from tests.cloud.given.checkouts import Change, Checkout, Given, code_sha, renamed
from tests.cloud.given.commands import Operator
from tests.cloud.given.tenants import CloudTenant, call
from tests.cloud.given.traffic import Asked, Member, Traffic

pytestmark = pytest.mark.cloud

TENANT, SWEEPER = "acme", "sweeper"
KNOWS, WRITES, UPGRADE, BAD, BACK = "knows form 2", "writes form 2", "upgrade", "bad", "back"
SETTLING = 20
"""Requests after each step."""
LEAST_TOLD = 0.9
"""Of the requests of a phase: the part of which the local cloud has the lines."""

OF_TWO_FORMS = {
    "holdings": ("class Holding(Dependent):", "secret_data", "secret_message"),
    "users": ("class User(Versioned, Typed[UserRow]):", "last_logged_in", "signed_in"),
}
"""Tables with a second form of rows: where they are declared, and what has another name in it."""
SECOND_FORM = """
from chalicelib.storage.forms import Forms, Step


def _renamed(before, after):
    return lambda row: {{after if name == before else name: row[name] for name in row}}


{declared}
    forms = Forms(
        written={written},
        steps=(Step(up=_renamed("{first}", "{second}"), down=_renamed("{second}", "{first}")),),
    )
"""
UPGRADED = """
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.users.users import User

TABLES = (Holding, User)
"""
ASKED_OF_ALL = "def refuse_old_version("
"""What every request is asked first, whatever it wants."""
BROKEN = """
def refuse_old_version(*_: object) -> None:
    raise ValueError("a bad build")


def _as_it_was("""
JUDGE = """
import sys
from infra.local_cloud.account import LocalAccount
from infra.local_cloud.process import LocalCloud
from infra.operate.tables import rows
from infra.template.tables import our_tables
from integrity.invariants import violations
port, prefix = sys.argv[1:]
account = LocalAccount(LocalCloud(int(port), 0, None))
for found in violations({name: rows.read(account, prefix + name) for name in our_tables()}):
    print(found)
"""


def two_forms(written: int) -> list[Change]:
    """What a release says that knows two forms of rows, and writes one."""
    declared = [
        Change(
            f"{our_tables()[table].__module__.replace('.', '/')}.py",
            line,
            SECOND_FORM.format(declared=line, written=written, first=first, second=second),
        )
        for table, (line, first, second) in OF_TWO_FORMS.items()
    ]
    return [
        *declared,
        Change("infra/template/functions.py", "KEPT_VERSIONS = 3", "KEPT_VERSIONS = 99"),
        Change(
            "chalicelib/endpoint_groups.py",
            "OF_SEVERAL_FORMS: frozenset[str] = frozenset()",
            f"OF_SEVERAL_FORMS = frozenset({sorted(OF_TWO_FORMS)})",
        ),
        Change(
            "chalicelib/services/operator/upgrades.py",
            "TABLES: tuple[type[Table], ...] = ()",
            UPGRADED,
        ),
    ]


def second_names() -> list[Change]:
    """What has another name in the second form is called so by the code that writes it."""
    raw = 'row["{0}"]["S"] if "{0}" in row'
    _, first, second = OF_TWO_FORMS["users"]
    return [
        *renamed(*OF_TWO_FORMS["holdings"][1:]),
        Change("chalicelib/tables/users/users.py", first, second),
        Change("chalicelib/views/users/users.py", raw.format(first), raw.format(second)),
        *renamed(f"User.{first}", f"User.{second}"),
    ]


KNOWING = two_forms(written=1)
WRITING = [*second_names(), *two_forms(written=2)]
CHANGES = {
    KNOWS: KNOWING,
    WRITES: WRITING,
    BAD: [*WRITING, Change("chalicelib/web/query.py", ASKED_OF_ALL, BROKEN)],
}


@dataclass
class Story:
    """What has happened, as the tests ask for it."""

    tenant: CloudTenant
    traffic: Traffic
    codes: dict[str, str]
    """What Lambda calls the code of each release, and of the build before."""
    given: dict[str, Given] = field(default_factory=dict)
    forms: dict[str, Counter[str]] = field(default_factory=dict)
    """Of how many rows each form was, after each step."""
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[tuple[str, str], str] = field(default_factory=dict)
    """The code of each version of each function."""
    answered: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By request: which version of which function has answered it."""
    accidents: list[str] = field(default_factory=list)
    """What the functions' logs say of them, but for those of the bad build."""
    unsent: set[str] = field(default_factory=set)
    amid: str = ""
    """What is wrong with rows of both forms, beside each other."""
    at_the_end: list[str] = field(default_factory=list)

    def release(self, phase: str, checkout: Checkout) -> None:
        with self.phase(phase):
            self.given[phase] = checkout.give(self.tenant.cloud, "release", "--watch", "0")
        self.see_versions()
        self.hold_schedules()

    def phase(self, name: str) -> _Phase:
        return _Phase(self, name)

    def sweep(self) -> None:
        call(self.tenant.cloud, self.tenant.stack, SWEEPER, {})

    def count_forms(self, step: str) -> None:
        found = [row for table in OF_TWO_FORMS for row in self.tenant.rows(table)]
        self.forms[step] = Counter(row.get("form", {"N": "1"})["N"] for row in found)

    def hold_schedules(self) -> None:
        """So that the sweeper comes when the story wants it, however slow the machine is."""
        for rule in self.tenant.stack.of_kind("Events::Rule").values():
            self.tenant.cloud.client("events").disable_rule(Name=rule)

    def see_versions(self) -> None:
        """Before another release removes the oldest."""
        client = self.tenant.cloud.client("lambda")
        for each in FUNCTIONS:
            name = f"{self.tenant.stack.name}-{each.name}"
            for version in client.list_versions_by_function(FunctionName=name)["Versions"]:
                self.versions[each.name, version["Version"]] = version["CodeSha256"]

    def read_logs(self) -> None:
        """Streams of a log have the version of the function in their names, as on AWS."""
        pages = self.tenant.cloud.client("logs").get_paginator("filter_log_events")
        for each in FUNCTIONS:
            for page in pages.paginate(logGroupName=f"/keyhaven/{TENANT}/{each.name}"):
                for event in page["events"]:
                    [version] = re.findall(r"\[([^]]+)\]", event["logStreamName"])
                    for request in re.findall(r'"request_id": "([^"]+)"', event["message"]):
                        self.answered[request] = (each.name, version)
                    is_bad = self.versions.get((each.name, version)) == self.codes[BAD]
                    if '"event": "accident"' in event["message"] and not is_bad:
                        self.accidents.append(f"{each.name}: {event['message']}")

    def codes_of(self, asked: Sequence[Asked]) -> set[str]:
        """Which code has answered these.

        The local cloud waits 50 ms for the lines of a request, and tells later ones with the next
        of that worker: on a busy machine its last ones are told by nobody.
        """
        known = [self.answered[each.id] for each in asked if each.id in self.answered]
        assert len(known) >= LEAST_TOLD * len(asked)
        return {self.versions[each] for each in known}

    def codes_in(self, phase: str) -> set[str]:
        """Which builds have answered in a phase, by their names."""
        names = {code: name for name, code in self.codes.items()}
        return {names[code] for code in self.codes_of(self.traffic.of(phase))}

    def told(self) -> str:
        """The figures of it."""
        figures = f"{self.traffic.told()}\n{self.seconds}\n{self.forms}"
        return "\n".join([figures, *self.accidents])


@dataclass
class _Phase:
    story: Story
    name: str

    def __enter__(self) -> None:
        self.story.traffic.phase = self.name
        self._began = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.story.seconds[self.name] = round(time.monotonic() - self._began, 1)
        self.story.traffic.flow(f"after {self.name}", SETTLING)
        self.story.count_forms(self.name)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with running(tmp_path_factory.mktemp("traffic")) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def story(cloud: LocalCloud, built: Path, tmp_path_factory, record_testsuite_property):
    """All of it, once; `--junitxml` tells the figures."""
    folder = tmp_path_factory.mktemp("checkouts")
    checkouts = {
        name: Checkout.made(folder / name.replace(" ", "-"), built, changes)
        for name, changes in CHANGES.items()
    }
    operator = Operator(cloud, built)
    operator.give("deploy")
    tenant = operator.onboard(TENANT)
    codes = {name: each.code_sha for name, each in checkouts.items()}
    story = Story(tenant, Traffic(tenant), {"before": code_sha(built), **codes})
    story.see_versions()
    story.hold_schedules()
    with story.traffic.flowing():
        story.traffic.flow("before", SETTLING)
        story.release(KNOWS, checkouts[KNOWS])
        story.release(WRITES, checkouts[WRITES])
        with story.phase(UPGRADE):
            story.sweep()
        story.release(BAD, checkouts[BAD])
        story.release(BACK, checkouts[KNOWS])
    prefix = tenant.stack.outputs["TablePrefix"]
    judged = checkouts[KNOWS].run(JUDGE, str(cloud.port), prefix)
    story.amid = judged.shown.strip() + judged.said
    ada = Member(story.traffic)
    ada.sign_in()
    story.unsent = ada.look_at_all()
    story.sweep()
    story.count_forms("swept")
    found = {name: rows.read(operator.account, prefix + name) for name in our_tables()}
    story.at_the_end = [str(each) for each in violations(found)]
    story.read_logs()
    record_testsuite_property("traffic", story.told())
    return story


def test_releases_are_brought_by_the_command_of_each(story):
    for name in (KNOWS, WRITES, BACK):
        assert story.given[name].code == 0, story.given[name].said
        assert f"bring the build to {TENANT}" in story.given[name].shown


def test_the_bad_build_is_led_back_by_itself(story):
    given = story.given[BAD]

    assert given.code != 0
    assert "UPDATE_ROLLBACK_COMPLETE" in given.said
    assert "GET /auth/verify.json: 500" in given.said


def test_no_request_fails(story):
    assert story.traffic.mistakes == []
    assert story.traffic.failed == [], story.told()
    asked = {each.what.partition("?")[0] for each in story.traffic.asked}
    assert asked == {
        *("GET /auth/verify.json", "POST /auth/jwt/login.json", "GET /users/me.json"),
        *("GET /resources.json", "POST /resources.json", "PUT /resources/<id>.json"),
        *("GET /resources/<id>.json", "GET /secrets/resource/<id>.json"),
    }


def test_the_bad_build_answers_nobody_but_the_prober(story):
    answered = {story.versions[each] for each in story.answered.values()}

    assert story.codes[BAD] in answered
    assert story.codes[BAD] not in story.codes_of(story.traffic.asked)


def test_each_release_has_answered_people(story):
    assert story.codes_in("before") == {"before"}
    assert story.codes_in(f"after {KNOWS}") == {KNOWS}
    assert story.codes_in(f"after {WRITES}") == {WRITES}
    assert story.codes_in(f"after {BAD}") == {WRITES}
    assert story.codes_in(f"after {BACK}") == {KNOWS}


def test_rows_are_brought_to_the_second_form_and_back(story):
    assert set(story.forms[KNOWS]) == {"1"}
    assert "2" in story.forms[WRITES]
    assert set(story.forms[UPGRADE]) == {"2"}
    assert set(story.forms[BAD]) == {"2"}
    assert "1" in story.forms[BACK]
    assert set(story.forms["swept"]) == {"1"}


def test_nothing_that_was_acknowledged_is_lost(story):
    ledger = story.traffic.ledger

    assert ledger.wrong == []
    assert story.unsent == set()
    logged = Counter(row["action"]["S"] for row in story.tenant.rows("action_logs"))
    assert ledger.may_have_made(logged["Resources.created"])
    assert ledger.may_have_changed(logged["Resources.updated"])


def test_the_invariants_hold(story):
    assert story.amid == ""
    assert story.at_the_end == []
