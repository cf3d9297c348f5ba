"""What is read of a directory, from real servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import ldap3
import pytest

from chalicelib.domain.directory.directory import Directory, Unreadable
from chalicelib.domain.directory.directory_settings import (
    DEFAULT_FIELDS,
    Connection,
    DirectorySettings,
    Fields,
    Kind,
    Search,
    Transport,
)
from chalicelib.domain.ids import UserId
from chalicelib.ldap.client import PAGE
from chalicelib.services.directory import source
from tests.support.company.certificates import Authority, Certificate
from tests.support.company.company import (
    ACTIVE_DIRECTORY,
    LONG_AGO,
    READER_PASSWORD,
    Company,
    founded,
)
from tests.support.company.fixtures import require_slapd


def settings_of(*companies: Company, connection: Any = None, **further: Any) -> DirectorySettings:
    """The settings that ask these companies, with what a test wants otherwise."""
    connections = [replace(_connection(each), **(connection or {})) for each in companies]
    somebody = UserId("")
    return DirectorySettings(connections, somebody, somebody, fields=DEFAULT_FIELDS, **further)


def _connection(company: Company) -> Connection:
    return Connection(
        name="main",
        kind=Kind.ACTIVE_DIRECTORY if company.is_active_directory else Kind.OPENLDAP,
        domain_name="example.org",
        hosts=["127.0.0.1"],
        port=company.server.port,
        transport=Transport.PLAIN,
        username=company.reader,
        password=READER_PASSWORD,
        base_dn=company.base,
    )


def read(*companies: Company, **further: Any) -> Directory:
    return source.read(settings_of(*companies, **further))


def usernames(directory: Directory) -> list[str | None]:
    return sorted(str(person.username) for person in directory.people)


def titles(directory: Directory) -> list[str]:
    return sorted(str(team.title) for team in directory.teams)


@pytest.fixture(params=["company", "active_directory"])
def either(request: pytest.FixtureRequest) -> Company:
    """A company of the one kind and of the other."""
    found: Company = request.getfixturevalue(request.param)
    return found


def test_people_and_groups_are_read_with_their_identifiers_and_times(either: Company) -> None:
    """Of OpenLDAP and of Active Directory, whose identifiers are binary."""
    ada, bob = either.person("ada", "Ada", "Lovelace"), either.person("bob", last="Ross")
    staff = either.group("Staff", ada, bob)
    directory = read(either)
    [first] = [person for person in directory.people if person.name == ada]
    assert (first.username, first.first_name, first.last_name) == (
        *("ada@example.org", "Ada"),
        "Lovelace",
    )
    assert first.id == either.id_of(ada)
    assert (first.created, first.modified) == (LONG_AGO, LONG_AGO)
    assert first.errors == {}
    [team] = directory.teams
    assert (team.title, team.name, team.id) == ("Staff", staff, either.id_of(staff))
    assert (team.members, team.people, team.teams) == ((ada, bob), (ada, bob), ())


def test_members_are_split_into_people_and_groups_of_the_answer(either: Company) -> None:
    """A member that the answer does not hold is among all members alone."""
    ada = either.person("ada")
    inner = either.group("Inner", ada)
    stranger = f"cn=nobody,{either.base}"
    outer = either.group("Outer", inner, ada.upper().replace("=", " = "), stranger)
    [team] = [team for team in read(either).teams if team.name == outer]
    assert (team.people, team.teams) == ((ada,), (inner,))
    assert len(team.members) == 3


def test_an_entry_with_errors_is_still_read(company: Company) -> None:
    """What is missing or malformed is told by field."""
    company.person("nobody", mail=None)
    company.person("wrong", mail="no address")
    company.person("short", givenName=None)
    errors = {person.name.partition(",")[0]: person.errors for person in read(company).people}
    assert errors["uid=nobody"] == {"email": ["The e-mail address is required."]}
    assert errors["uid=wrong"] == {"email": ["This is no e-mail address."]}
    assert errors["uid=short"] == {"first_name": ["The first name is required."]}


def test_more_than_a_page_is_read_whole(company: Company) -> None:
    for number in range(PAGE + 5):
        company.person(f"person{number}")
    assert len(read(company).people) == PAGE + 5


def test_disabled_accounts_are_left_out_where_the_settings_say_so(
    active_directory: Company, company: Company
) -> None:
    """By the bit of userAccountControl; OpenLDAP has no such thing."""
    active_directory.person("ada", userAccountControl=66048)
    active_directory.disable(active_directory.person("bob"))
    company.person("carol")
    assert usernames(read(active_directory)) == ["ada@example.org", "bob@example.org"]
    both = read(active_directory, company, enabled_users_only=True)
    assert usernames(both) == ["ada@example.org", "carol@example.org"]


def test_computers_are_no_people(active_directory: Company) -> None:
    dn = active_directory.person("ada")
    root = active_directory._root
    root.add(f"uid=printer,{active_directory.base}", "computer", {"cn": "x", "sn": "x"})
    assert [person.name for person in read(active_directory).people] == [dn]


def test_a_path_and_a_class_and_a_filter_narrow_the_answer(company: Company) -> None:
    under = company.unit("sales")
    company.person("ada", under=under, title="engineer")
    company.person("bob", under=under)
    company.person("carol", title="engineer")
    company.group("Staff")
    path = read(company, people=Search(path=under))
    assert usernames(path) == ["ada@example.org", "bob@example.org"]
    assert titles(path) == ["Staff"]
    custom = Search(filter="( title = engineer )".replace(" = ", "="))
    assert usernames(read(company, people=custom)) == ["ada@example.org", "carol@example.org"]
    other = Search(object_class="organizationalRole")
    assert [person.name for person in read(company, people=other).people] == [company.reader]


def test_a_class_is_a_value_and_no_filter(company: Company) -> None:
    company.person("ada")
    injected = Search(object_class="x)(objectClass=*")
    assert read(company, people=injected).people == ()


@pytest.mark.parametrize("text", ["(cn=a", "cn=a", "(cn=a))", "(cn=a)(cn=b)", "(&)", "()"])
def test_a_broken_filter_is_no_empty_answer(company: Company, text: str) -> None:
    with pytest.raises(Unreadable, match="filter"):
        read(company, people=Search(filter=text))


@pytest.mark.parametrize(
    "further",
    [
        {"connection": {"base_dn": "dc=exampel,dc=org"}},
        {"connection": {"base_dn": "ou=former,dc=example,dc=org"}},
        {"people": Search(path="ou=peopel")},
        {"teams": Search(path="ou=gruops")},
    ],
)
def test_a_base_or_path_that_does_not_exist_is_no_empty_answer(
    company: Company, further: dict[str, Any]
) -> None:
    """Else the next run would find nobody, and remove everybody."""
    company.person("ada")
    with pytest.raises(Unreadable, match="The directory has no"):
        read(company, **further)
    with pytest.raises(source.NoSuchPlace):
        source.probe(settings_of(company, **further))


def test_without_a_base_the_server_names_its_own(company: Company) -> None:
    company.person("ada")
    assert len(read(company, connection={"base_dn": None}).people) == 1


def test_only_members_of_the_parent_group_are_taken(company: Company) -> None:
    """Whatever the letters of its name; nested groups are followed, in circles too."""
    ada, bob = company.person("ada"), company.person("bob")
    company.person("carol")
    inner = company.group("Inner", bob)
    outer = company.group("Outer", ada, inner)
    company.set_members(inner, bob, outer)
    directory = read(company, people=Search(parent_group="oUTER"))
    assert usernames(directory) == ["ada@example.org", "bob@example.org"]
    assert titles(directory) == ["Inner", "Outer"]


def test_only_groups_below_the_parent_group_are_taken(company: Company) -> None:
    """Users are not restricted by it."""
    ada = company.person("ada")
    deep = company.group("Deep", ada)
    inner = company.group("Inner", deep)
    company.group("Outer", inner)
    company.group("Other", ada)
    directory = read(company, teams=Search(parent_group="Outer"))
    assert titles(directory) == ["Deep", "Inner"]
    assert usernames(directory) == ["ada@example.org"]


def test_a_parent_group_that_is_missing_is_no_empty_answer(company: Company) -> None:
    company.person("ada")
    for field in ("people", "teams"):
        with pytest.raises(Unreadable, match="no group Staff"):
            read(company, **{field: Search(parent_group="Staff")})


def test_several_domains_are_one_answer(company: Company, active_directory: Company) -> None:
    ada, bob = company.person("ada"), active_directory.person("bob")
    active_directory.group("Staff", bob, ada)
    directory = read(company, active_directory)
    assert usernames(directory) == ["ada@example.org", "bob@example.org"]
    assert directory.teams[0].people == (bob, ada)


def test_a_domain_that_is_asked_twice_counts_once(company: Company) -> None:
    company.group("Staff", company.person("ada"))
    directory = read(company, company)
    assert (len(directory.people), len(directory.teams)) == (1, 1)


def test_the_next_host_stands_in_for_one_that_is_off(company: Company) -> None:
    company.person("ada")
    hosts = {"hosts": ["directory.invalid", "127.0.0.1"]}
    assert len(read(company, connection=hosts).people) == 1
    with pytest.raises(Unreadable, match=r"directory\.invalid"):
        source.probe(settings_of(company, connection=hosts))


def test_addresses_come_from_attributes_that_are_mapped_to_nothing_else(company: Company) -> None:
    """A prefix and a fallback are asked for, other than in the reference."""
    company.person("ada", mail=None, title="countess")
    company.person("bob", mail=None, first="Bob", title=None)
    company.person("carol")
    made = {"email_prefix": "uid", "email_suffix": "@made.example"}
    assert usernames(read(company, **made)) == [
        *("ada@made.example", "bob@made.example"),
        "carol@example.org",
    ]
    nothing = {"email_prefix": "title", "email_suffix": "@made.example"}
    assert usernames(read(company, **nothing)) == [
        *("None", "carol@example.org"),
        "countess@made.example",
    ]
    fields = {**DEFAULT_FIELDS, Kind.OPENLDAP: _with_fallback("title")}
    found = source.read(replace(settings_of(company), fields=fields)).people
    assert {person.username for person in found} == {"countess", None, "carol@example.org"}


def _with_fallback(attribute: str) -> Fields:
    return replace(DEFAULT_FIELDS[Kind.OPENLDAP], username_fallback=attribute)


def test_without_the_mapped_identifier_an_entry_is_known_by_its_name(company: Company) -> None:
    """While it is there, the server's own identifier counts, whatever is mapped."""
    dn = company.person("ada", title="countess")
    ids = []
    for attribute in ("title", "employeeNumber"):
        fields = replace(
            DEFAULT_FIELDS[Kind.OPENLDAP],
            user={**DEFAULT_FIELDS[Kind.OPENLDAP].user, "id": attribute},
        )
        settings = replace(settings_of(company), fields={Kind.OPENLDAP: fields})
        ids += [person.id for person in source.read(settings).people]
    assert ids[0] == company.id_of(dn)
    assert ids[1] != ids[0]
    assert ids[1][14] == "5"


def test_a_moved_entry_keeps_its_identifier(company: Company) -> None:
    dn = company.person("ada")
    [before] = read(company).people
    moved = company.move(dn, company.unit("elsewhere"))
    [after] = read(company).people
    assert (after.id, after.name) == (before.id, moved)


@pytest.mark.parametrize("nth", range(1, 5))
def test_who_is_moved_before_a_search_stays_in_their_group(
    either: Company, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DS07: and so in the parent group, without which they would count as gone."""
    ada = either.person("ada")
    crew, unit = either.group("Crew", ada), either.unit("elsewhere")
    _before_search(monkeypatch, nth, lambda: either.set_members(crew, either.move(ada, unit)))
    directory = read(either, people=Search(parent_group="Crew"))
    [person], [team] = directory.people, directory.teams
    assert team.people == (person.name,)


def _before_search(monkeypatch: pytest.MonkeyPatch, nth: int, change: Callable[[], object]) -> None:
    """Make a change between two searches: before the nth of those that follow."""
    search, numbers = ldap3.Connection.search, count(1)

    def searched(*asked: Any, **further: Any) -> Any:
        if next(numbers) == nth:
            change()
        return search(*asked, **further)

    monkeypatch.setattr(ldap3.Connection, "search", searched)


def test_times_are_those_of_the_directory(company: Company) -> None:
    later = datetime(2026, 6, 1, tzinfo=UTC)
    dn = company.person("ada")
    company.set(dn, modified=later, title="countess")
    [person] = read(company).people
    assert (person.created, person.modified) == (LONG_AGO, later)


# --- Connections.


@pytest.mark.parametrize(
    ("connection", "cause"),
    [
        ({"password": "wrong"}, "refuses the name and password: invalidCredentials"),
        ({"password": None}, "A name without a password"),
        ({"password": ""}, "A name without a password"),
        ({"username": "cn=nobody,dc=example,dc=org"}, "refuses the name and password"),
        ({"username": None, "password": None}, "refuses the search: insufficientAccessRights"),
        ({"port": 1}, "cannot be reached"),
        ({"hosts": ["directory.invalid"]}, "No host is known"),
        ({"transport": Transport.START_TLS}, "does not offer TLS"),
    ],
)
def test_a_directory_that_lets_nobody_in_is_no_empty_answer(
    company: Company, connection: dict[str, Any], cause: str
) -> None:
    company.person("ada")
    with pytest.raises(Unreadable, match=cause):
        read(company, connection=connection)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(params=[Transport.LDAPS, Transport.START_TLS])
def transport(request: pytest.FixtureRequest) -> Transport:
    found: Transport = request.param
    return found


def _protected(
    certificate: Certificate, transport: Transport, ca: str | None
) -> Iterator[Directory]:
    require_slapd()
    with founded(certificate=certificate) as company:
        company.person("ada")
        ldaps = transport is Transport.LDAPS
        port = company.server.ldaps_port if ldaps else company.server.port
        yield read(company, connection={"transport": transport, "port": port, "ca_certificate": ca})


def test_a_connection_is_protected_by_tls(authority: Authority, transport: Transport) -> None:
    [directory] = _protected(authority.signs(), transport, authority.pem)
    assert usernames(directory) == ["ada@example.org"]


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        ("another host", "IP address mismatch"),
        ("expired", "certificate has expired"),
        ("another authority", "unable to get local issuer|self-signed|signature"),
        ("no authority", "unable to get local issuer|self-signed"),
    ],
)
def test_a_certificate_has_to_match(
    authority: Authority, transport: Transport, case: str, cause: str
) -> None:
    """Verification is never switched off."""
    host = "10.9.8.7" if case == "another host" else "127.0.0.1"
    certificate = authority.signs(host, days=-1 if case == "expired" else 30)
    trusted = {"another authority": Authority("Another").pem, "no authority": None}
    with pytest.raises(Unreadable, match=f"is refused: .*({cause})"):
        list(_protected(certificate, transport, trusted.get(case, authority.pem)))


def test_a_plain_port_speaks_no_tls(company: Company, authority: Authority) -> None:
    tls = {"transport": Transport.LDAPS, "ca_certificate": authority.pem}
    with pytest.raises(Unreadable, match="does not speak TLS"):
        read(company, connection=tls)


def test_an_answer_that_the_server_cuts_is_no_answer() -> None:
    """A bound of the server's own leaves nobody out in silence."""
    require_slapd()
    with founded(limits="limits * size.hard=3 size.prtotal=3") as company:
        for name in ("ada", "bob", "carol", "dora"):
            company.person(name)
        with pytest.raises(Unreadable, match="does not give all"):
            read(company)


def test_referrals_are_not_followed(company: Company) -> None:
    company.person("ada")
    reference = {"ref": "ldap://127.0.0.1:1/dc=elsewhere", "dc": "elsewhere"}
    classes = ["referral", "extensibleObject"]
    company._root.add(f"dc=elsewhere,{company.base}", classes, reference)
    assert len(read(company).people) == 1
    elsewhere = {"base_dn": f"dc=elsewhere,{company.base}"}
    with pytest.raises(Unreadable, match="refers to another server"):
        read(company, connection=elsewhere)


def test_a_bare_name_signs_in_as_one_of_the_domain() -> None:
    """Of Active Directory alone; here the server only refuses what is no name to it."""
    require_slapd()
    with founded(ACTIVE_DIRECTORY) as company, pytest.raises(Unreadable, match="invalidDNSyntax"):
        read(company, connection={"username": "reader"})
