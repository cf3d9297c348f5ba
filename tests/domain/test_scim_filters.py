"""Filters of SCIM: what they mean, and what they are refused for."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chalicelib.domain.directory.scim import filters, words
from chalicelib.domain.directory.scim.filters import Kind
from chalicelib.domain.directory.scim.schemas import USER_ATTRIBUTES
from chalicelib.domain.directory.scim.words import Unfit

ADA = {
    "id": "5d2c1a04-0000-4000-8000-000000000001",
    "userName": "Ada",
    "externalId": "X-1",
    "active": True,
    "name": {"givenName": "Ada", "familyName": "Lovelace"},
    "emails": [{"value": "ada@example.com", "type": "work", "primary": True}],
    "meta": {"resourceType": "User", "created": "2026-11-21T08:00:00.000Z"},
}
TEXTS = ("ada", "Ada", "lovelace", "ada@example.com", "", 'with "quotes"', "\u00e9", "x-1")


def holds(text, resource=ADA):
    wanted = filters.parse(text, USER_ATTRIBUTES)
    return wanted.holds(filters.values_of(resource))


@pytest.mark.parametrize(
    "text",
    [
        'userName eq "ada"',
        'USERNAME EQ "ADA"',
        f'{words.USER}:userName eq "ada"',
        'userName ne "bob"',
        'externalId eq "X-1"',
        'userName sw "a" and userName ew "A" and userName co "d"',
        "active eq true",
        "active eq True",
        'active eq "True"',
        "active ne false",
        'emails eq "ADA@example.com"',
        'emails.value eq "ada@example.com"',
        'emails[type eq "work" and value sw "ada"]',
        'emails[type eq "home"] or active eq true',
        "userName pr and not (name.formatted pr)",
        "name.formatted eq null",
        "userName ne null",
        "emails[value ne null]",
        'name.familyName gt "a" and name.familyName lt "z"',
        'meta.created ge "2026-11-21T08:00:00Z" and meta.created lt "2026-11-21T09:00:00+00:00"',
        'not (userName eq "bob" or userName eq "carol")',
        'userName eq "x" and active eq true or userName eq "ada"',
        "(((active eq true)))",
    ],
)
def test_a_filter_holds(text):
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        'userName eq "bob"',
        'externalId eq "x-1"',
        'id eq "5D2C1A04-0000-4000-8000-000000000001"',
        "active eq false",
        'emails[type eq "home"]',
        'emails[type eq "work" and value sw "bob"]',
        "not (userName pr)",
        "userName eq null",
        "name.formatted ne null",
        "emails.type eq null",
        'userName eq "ada" and (active eq false or emails co "@other")',
        'meta.created gt "2026-11-21T08:00:00Z"',
    ],
)
def test_a_filter_does_not_hold(text):
    assert not holds(text)


REFUSED = {
    "nothing": "",
    "an attribute alone": "userName",
    "no value": "userName eq",
    "an unknown attribute": 'password eq "x"',
    "an unknown operator": 'userName is "x"',
    "a bare word": "userName eq ada",
    "a number": "userName eq 7",
    "an object": "userName eq {}",
    "a text without an end": 'userName eq "ada',
    "a bracket without an end": 'emails[type eq "work"',
    "a parenthesis without an end": '(userName eq "a"',
    "an end too many": 'userName eq "a")',
    "two terms without a word between": 'userName eq "a" active eq true',
    "not without parentheses": 'not userName eq "a"',
    "a part of a boolean": 'active co "t"',
    "an order of booleans": "active gt true",
    "a text for a boolean": 'active eq "yes"',
    "a part of a moment": 'meta.created sw "2026"',
    "no moment": 'meta.created gt "yesterday"',
    "several names": 'name eq "Ada"',
    "brackets in brackets": 'emails[value eq "a" and emails[type eq "b"]]',
    "an unknown part": 'emails[display eq "a"]',
    "half of a letter": 'userName eq "\\ud800"',
    "too many levels": "(" * 11 + "active eq true" + ")" * 11,
    "too many terms": " and ".join(["active eq true"] * 51),
    "too long": f'userName eq "{"a" * 2_000}"',
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_filter_is_refused(name):
    """NP28"""
    with pytest.raises(Unfit) as refused:
        filters.parse(REFUSED[name], USER_ATTRIBUTES)
    assert refused.value.kind == "invalidFilter"


@given(st.text(max_size=200))
@example('"')
@example("a[")
@example("not ((((")
def test_any_text_is_a_filter_or_refused(text):
    with suppress(Unfit):
        filters.parse(text, USER_ATTRIBUTES).holds(filters.values_of(ADA))


TERMS = st.one_of(
    st.builds(
        lambda path, operator, value: f"{path} {operator} {json.dumps(value)}",
        st.sampled_from(["userName", "name.givenName", "emails.value"]),
        st.sampled_from(["eq", "ne", "co", "sw", "ew"]),
        st.sampled_from(TEXTS),
    ),
    st.sampled_from(["active eq true", "active eq false", "externalId pr", "name.formatted pr"]),
)
EXPRESSIONS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, EXPRESSIONS)
def test_words_between_filters_mean_what_they_mean_between_answers(left, right):
    assert holds(f"not ({left})") == (not holds(left))
    assert holds(f"{left} and {right}") == (holds(left) and holds(right))
    assert holds(f"{left} or {right}") == (holds(left) or holds(right))


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_a_text_is_compared_without_case_and_an_exact_one_with_it(one, other):
    attributes = {"loose": Kind.TEXT, "exact": Kind.EXACT}
    for path, wanted in (("loose", one.casefold() == other.casefold()), ("exact", one == other)):
        compared = filters.parse(f"{path} eq {json.dumps(other)}", attributes)
        assert compared.holds({path: [one]}) == wanted
