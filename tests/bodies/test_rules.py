from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    UNSET,
    Unset,
    absent_is_empty,
    array,
    ascii_only,
    at_most,
    boolean,
    date_time,
    email,
    exact_date_time,
    expired,
    in_list,
    integer,
    length_between,
    max_length,
    not_empty,
    required,
    utf8,
    utf8_extended,
    uuid,
)
from chalicelib.domain.errors import Invalid
from tests.bodies.samples import ADA, FOLDER, errors_of, rules_of

RULES = [
    utf8,
    utf8_extended,
    ascii_only,
    max_length(64),
    length_between(2, 64),
    uuid,
    in_list("a", "b"),
    in_list(1, 7, 15),
    email,
    boolean,
    integer,
    array,
    at_most(2),
    expired,
    date_time,
    exact_date_time,
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters()),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(), inside, max_size=4),
    max_leaves=8,
)


@dataclass(frozen=True, slots=True)
class LineBody:
    text: Annotated[str, not_empty, utf8_extended, max_length(10)]
    count: Annotated[int | None, integer] = None


@dataclass(frozen=True, slots=True)
class HeadBody:
    title: Annotated[str, utf8, max_length(5)]


@dataclass(frozen=True, slots=True)
class LetterBody:
    name: Annotated[
        str, required.saying("A name is required."), not_empty, utf8_extended, max_length(64)
    ]
    lines: Annotated[list[LineBody], not_empty, at_most(3)]
    head: Annotated[HeadBody | Unset, not_empty] = UNSET
    parent_id: Annotated[str | None, uuid] = None
    note: Annotated[str | Unset | None, max_length(5)] = UNSET
    readers: list[Annotated[str, uuid]] = field(default_factory=list)
    expired: Annotated[datetime | None, expired] = None


GOOD = {"name": "mail", "lines": [{"text": "hello"}]}


def test_a_body_that_obeys_its_rules_is_read():
    body = Draft(LetterBody, GOOD | {"head": {"title": "Hi"}, "readers": [ADA]}).read("no")

    assert body == LetterBody(
        name="mail", lines=[LineBody("hello")], head=HeadBody("Hi"), readers=[ADA]
    )


def test_all_that_is_wrong_is_reported_at_once():
    payload = {
        "name": "",
        "lines": [{"text": "ok"}, {"text": "x" * 11, "count": "1"}],
        "head": {"title": 5},
        "parent_id": "me",
        "note": "too long",
        "expired": "soon",
    }

    errors = errors_of(LetterBody, payload)

    assert errors == {
        "name": {"_empty": "The name should not be empty."},
        "lines": {
            "1": {
                "text": {"maxLength": "The text length should be maximum 10 characters."},
                "count": {"integer": "The count should be an integer."},
            }
        },
        "head": {
            "title": {"utf8": "The title should be valid text without emoji or control characters."}
        },
        "parent_id": {"uuid": "The parent id should be a valid UUID."},
        "note": {"maxLength": "The note length should be maximum 5 characters."},
        "expired": {"expired": "The date could not be parsed."},
    }


def test_a_missing_field_is_required_in_the_words_of_the_field():
    assert errors_of(LetterBody, {}) == {
        "name": {"_required": "A name is required."},
        "lines": {"_required": "The lines is required."},
    }


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_breaks_only_the_rule_of_emptiness(nothing):
    assert rules_of(LetterBody, GOOD | {"name": nothing}, "name") == {"_empty"}


@pytest.mark.parametrize("field", ["lines", "head"])
@pytest.mark.parametrize("nothing", [None, "", []])
def test_an_empty_list_is_nothing_where_a_list_or_an_object_is_meant(field, nothing):
    assert rules_of(LetterBody, GOOD | {field: nothing}, field) == {"_empty"}


def test_an_empty_list_is_no_text():
    assert rules_of(LetterBody, GOOD | {"name": []}, "name") == {"utf8Extended", "maxLength"}


@pytest.mark.parametrize(
    ("value", "broken"),
    [
        (5, {"utf8Extended"}),
        (1.5, {"utf8Extended"}),
        (True, {"utf8Extended"}),
        ({}, {"utf8Extended", "maxLength"}),
        (["a"], {"utf8Extended", "maxLength"}),
        ([[]], {"utf8Extended", "maxLength"}),
        (" ", set()),
        ("\ud800", {"utf8Extended"}),
        ("\ud800" * 65, {"utf8Extended", "maxLength"}),
        ("a\x00b", {"utf8Extended"}),
        ("a\x1fb", {"utf8Extended"}),
        ("a\tb\r\nc", set()),
        ("x" * 100_000, {"maxLength"}),
    ],
)
def test_a_text_field_says_of_each_kind_of_value_what_is_wrong(value, broken):
    """NP07, NP10, NP11."""
    assert rules_of(LetterBody, GOOD | {"name": value}, "name") == broken


@pytest.mark.parametrize("sign", ["a", "é", "漢", "😀", "\u0301"])
def test_lengths_are_counted_in_code_points(sign):
    """NP09."""
    assert rules_of(LetterBody, GOOD | {"name": sign * 64}, "name") == set()
    assert rules_of(LetterBody, GOOD | {"name": sign * 65}, "name") == {"maxLength"}


@pytest.mark.parametrize(
    "text", ["<script>", "'; DROP TABLE x", "{{7*7}}", "${x}", "a\r\nb", "=cmd()"]
)
def test_text_is_kept_as_it_is(text):
    """NP12."""
    assert Draft(LetterBody, GOOD | {"name": text}).read("no").name == text


@pytest.mark.parametrize("name", ["__class__", "__proto__", "constructor", "$where", "a.b", ""])
def test_members_nobody_knows_are_passed_over(name):
    """NP08."""
    assert Draft(LetterBody, GOOD | {name: [1]}).read("no") == Draft(LetterBody, GOOD).read("no")


@pytest.mark.parametrize("payload", [[], ["a"], "text", 5, None, True])
def test_what_is_no_object_is_a_body_without_members(payload):
    """NP06."""
    draft = Draft(LetterBody, payload)

    assert draft.is_empty
    assert set(errors_of(LetterBody, payload)) == {"name", "lines"}


@pytest.mark.parametrize("item", [None, "a", [], [[]], 5])
def test_an_item_that_is_no_object_lacks_its_members(item):
    """NP25."""
    errors = errors_of(LetterBody, GOOD | {"lines": [{"text": "a"}, item]})

    assert errors == {"lines": {"1": {"text": {"_required": "The text is required."}}}}


@dataclass(frozen=True, slots=True)
class LooseBody:
    id: Annotated[str | None, uuid] = None


@dataclass(frozen=True, slots=True)
class LooseListBody:
    rows: list[LooseBody]


def test_an_item_that_is_no_object_is_refused_where_nothing_is_required():
    """NP25."""
    errors = errors_of(LooseListBody, {"rows": ["a", {}]})

    assert errors == {"rows": {"0": {"object": "The row should be an object."}}}


def test_an_object_with_numbers_as_keys_is_no_list():
    """NP25."""
    assert rules_of(LetterBody, GOOD | {"lines": {"0": {}}}, "lines") == {"array"}


def test_an_association_that_is_no_object_counts_as_not_sent():
    assert rules_of(LetterBody, GOOD | {"head": "text"}, "head") == {"_required"}


def test_items_of_a_list_that_is_too_long_are_not_looked_at():
    assert rules_of(LetterBody, GOOD | {"lines": [None] * 4}, "lines") == {"hasAtMost"}


def test_a_list_without_a_cap_of_its_own_takes_a_thousand_items():
    assert rules_of(LetterBody, GOOD | {"readers": [ADA] * 1_000}, "readers") == set()
    assert rules_of(LetterBody, GOOD | {"readers": [ADA] * 1_001}, "readers") == {"hasAtMost"}


def test_not_sent_and_null_are_told_apart():
    assert Draft(LetterBody, GOOD).read("no").note is UNSET
    assert Draft(LetterBody, GOOD | {"note": None}).read("no").note is None
    assert not UNSET


def test_a_form_may_count_what_is_missing_as_empty():
    @dataclass(frozen=True)
    class SwitchBody:
        is_on: Annotated[bool, absent_is_empty, not_empty, boolean]

    assert rules_of(SwitchBody, {}, "is_on") == {"_empty"}
    assert rules_of(SwitchBody, {"is_on": None}, "is_on") == {"_empty"}


def test_a_field_of_a_type_without_a_rule_for_it_is_a_mistake():
    @dataclass(frozen=True)
    class BareBody:
        moment: Annotated[datetime, not_empty]

    with pytest.raises(TypeError, match="moment"):
        Draft(BareBody, {}).read("no")


def test_a_draft_knows_which_members_were_sent():
    draft = Draft(LetterBody, {"gpgkey": None})

    assert draft.has("gpgkey")
    assert not draft.has("name")
    assert not draft.is_empty


def test_a_draft_does_not_show_its_payload():
    assert "hidden" not in repr(Draft(LetterBody, {"name": "hidden"}))


def test_identifiers_are_read_in_their_one_form():
    assert Draft(LooseBody, {"id": FOLDER.upper()}).read("no").id == FOLDER


@pytest.mark.parametrize(
    "value",
    [
        "abc",
        FOLDER[:-1],
        "{" + FOLDER + "}",
        "urn:uuid:" + FOLDER,
        FOLDER.replace("-", ""),
        FOLDER + "\n",
        "\uff10" + FOLDER[1:],
        "",
        0,
        -1,
        1.5,
        True,
        [],
        {},
        [[]],
    ],
)
def test_what_is_no_identifier_is_refused(value):
    """NP01, NP07."""
    assert "uuid" in rules_of(LooseBody, {"id": value}, "id")


@pytest.mark.parametrize(
    ("value", "is_fine"),
    [("é漢", True), ("😀", False), ("\x00", False), ("\ud83d", False), (5, False), ("\x7f", True)],
)
def test_utf8_is_the_basic_multilingual_plane(value, is_fine):
    assert utf8.holds(value) is is_fine


@pytest.mark.parametrize(
    ("value", "is_fine"), [("a\n", True), ("é", False), ("\x00", False), (5, False), ([], False)]
)
def test_ascii_is_seven_bits(value, is_fine):
    assert ascii_only.holds(value) is is_fine


@pytest.mark.parametrize(
    ("value", "is_fine"), [(1, True), (True, False), (1.0, False), ("1", False), (2, False)]
)
def test_a_list_of_numbers_holds_numbers(value, is_fine):
    assert in_list(1, 7, 15).holds(value) is is_fine


@pytest.mark.parametrize(
    ("value", "is_fine"),
    [("ab", True), ("a", False), ("abcd", False), (5, True), ([], False), ({}, False)],
)
def test_lengths_are_bounded_on_both_sides(value, is_fine):
    assert length_between(2, 3).holds(value) is is_fine


@pytest.mark.parametrize(
    ("value", "meant"), [(True, True), (False, False), (1, True), (0, False), ("1", True)]
)
def test_a_boolean_may_be_written_in_several_ways(value, meant):
    @dataclass(frozen=True)
    class FlagBody:
        flag: bool

    assert Draft(FlagBody, {"flag": value}).read("no").flag is meant


@pytest.mark.parametrize("value", ["true", "", None, 2, -1, 1.5, [], {}, "yes"])
def test_other_values_are_no_boolean(value):
    assert not boolean.holds(value)


@pytest.mark.parametrize(
    "address",
    ["ada@example.com", "ada.l+x@sub.example.co", "zoë@exämple.de", "用户@例子.中国", "o'n@a.io"],
)
def test_an_address_has_a_local_part_and_a_domain(address):
    assert email.holds(address)


@pytest.mark.parametrize(
    "address",
    [
        "ada",
        "ada@localhost",
        "@example.com",
        "ada@",
        "ada@example.c",
        "ada@exa_mple.com",
        "a da@example.com",
        '"ada"@example.com',
        "ada@[127.0.0.1]",
        "ada@127.0.0.1",
        "a@b@c.de",
        "ada@-example.com",
        "ada@example-.com",
        "ada@example..com",
        ".ada@example.com",
        "ada.@example.com",
        "ada@example.com\n",
        "ada@example.com.",
        "ada\x00@example.com",
        "a" * 400 + "@example.com",
        "ada@" + "a" * 64 + ".com",
        "ada😀@example.com",
        5,
        None,
        [],
    ],
)
def test_other_text_is_no_address(address):
    assert not email.holds(address)


@dataclass(frozen=True)
class ExpiryBody:
    expired: Annotated[datetime | None, expired]


def expiry(text: Any) -> datetime | None:
    return Draft(ExpiryBody, {"expired": text}).read("no").expired


@pytest.mark.parametrize(
    "text",
    [
        "2031-02-03T04:05:06Z",
        "2031-02-03T04:05:06+00:00",
        "2031-02-03T06:05:06+02:00",
        "2031-02-02T23:35:06-0430",
        "2031-02-03T04:05:06.789Z",
        "2031-02-03T04:05:06.123456789+00:00",
        "2031-02-03 04:05:06",
        "2031-02-03T04:05:06",
    ],
)
def test_an_expiry_is_read_as_a_moment_in_whole_seconds(text):
    moment = expiry(text)

    assert moment == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert moment.utcoffset() == timedelta(0)


def test_an_expiry_may_be_a_day():
    assert expiry("2031-02-03") == datetime(2031, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize("nothing", [None, ""])
def test_an_expiry_may_be_cleared(nothing):
    assert expiry(nothing) is None


@pytest.mark.parametrize(
    "value",
    [
        "2025-02-30",
        "10000-01-01",
        "0000-01-01",
        "0001-01-01T00:00:00+14:00",
        "now",
        "tomorrow",
        "9999-12-31T23:59:59-14:00",
        "2025-01-01T25:00:00Z",
        "2025-01-01T00:00:60Z",
        "10/11/2030",
        "2025-01-01T00:00:00+25:00",
        "2025-01-01T00Z",
        "2025-W01-1",
        "2025-01-01\n",
        "1" * 10240,
        "\uff12025-01-01",
        1900000000,
        "1900000000",
        True,
        False,
        0,
        1.5,
        [],
        {},
        ["2025-01-01"],
    ],
)
def test_what_is_no_moment_is_no_expiry(value):
    """NP23."""
    assert errors_of(ExpiryBody, {"expired": value}) == {
        "expired": {"expired": "The date could not be parsed."}
    }


@pytest.mark.parametrize(
    ("value", "is_fine"),
    [
        ("2031-02-03 04:05", True),
        ("2031-02-03 04:05:06", True),
        ("2031-02-03T04:05:06", True),
        ("2031-02-03T04:05:06Z", True),
        ("2031-02-03T04:05:06+00:00", True),
        (None, True),
        ("", True),
        ("2031-02-03", False),
        ("2031-02-03T04:05:06+02:00", False),
        ("2031-02-30T04:05:06", False),
        ("soon", False),
        (5, False),
        (True, False),
        ([], False),
    ],
)
def test_a_suspension_names_a_moment_of_utc(value, is_fine):
    assert date_time.holds(value) is is_fine


@pytest.mark.parametrize(
    ("text", "fraction"),
    [
        ("2031-02-03T04:05:06Z", 0),
        ("2031-02-03 04:05:06", 0),
        ("2031-02-03T06:05:06.25+02:00", 250_000),
        ("2031-02-03T04:05:06.9", 900_000),
        ("2031-02-03T04:05:06.123456789Z", 123_456),
    ],
)
def test_an_exact_moment_has_its_fraction_of_a_second(text, fraction):
    assert exact_date_time.holds(text)
    assert exact_date_time.canonical(text) == datetime(2031, 2, 3, 4, 5, 6, fraction, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", ["2031-02-03", "", None, "soon", "2031-02-30T04:05:06", "04:05:06", 5, True, [], {}]
)
def test_an_exact_moment_is_a_date_and_a_time(value):
    assert not exact_date_time.holds(value)


@given(value=json_values)
def test_rules_judge_any_value_and_never_fail(value):
    for rule in RULES:
        if rule.holds(value) and rule.canonical is not None:
            canonical = rule.canonical(value)
            assert rule.gives is not None
            assert canonical is None or isinstance(canonical, rule.gives)


@given(
    payload=json_values
    | st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            ("name", "lines", "head", "parent_id", "note", "readers", "expired"), json_values
        ),
    )
)
def test_any_payload_is_read_or_refused(payload):
    """NP07."""
    try:
        body = Draft(LetterBody, payload).read("no")
    except Invalid:
        assert errors_of(LetterBody, payload)
    else:
        assert isinstance(body.name, str)
        assert all(isinstance(line, LineBody) for line in body.lines)
