"""Rows become models and models rows as PynamoDB has it, attribute by attribute."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pynamodb.attributes import (
    BooleanAttribute,
    DiscriminatorAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.exceptions import AttributeDeserializationError, AttributeNullError
from pynamodb.models import Model

from chalicelib.storage.base import Table, TableMeta, TimestampAttribute, every_table
from chalicelib.storage.forms import FORM

NOW = datetime(2026, 11, 29, 8, 30, 15, 250_000, tzinfo=UTC)


class Sample(Table):
    """One attribute of each kind, under names of their own."""

    class Meta(TableMeta):
        table_name = "samples"

    id = UnicodeAttribute(hash_key=True)
    at = TimestampAttribute()
    version = NumberAttribute(default=1)
    labels = JSONAttribute(default=list)
    short = UnicodeAttribute(null=True, attr_name="s")
    is_on = BooleanAttribute(null=True)
    names = UnicodeSetAttribute(null=True)
    params: MapAttribute[str, Any] = MapAttribute(null=True)  # type: ignore[no-untyped-call]


FULL = {
    "id": {"S": "one"},
    "at": {"S": "2026-11-29T08:30:15+00:00"},
    "version": {"N": "7"},
    "labels": {"S": '["a", {"b": null}]'},
    "s": {"S": "brief"},
    "is_on": {"BOOL": False},
    "names": {"SS": ["ada"]},
    "params": {"M": {"a": {"S": "b"}, "n": {"N": "2"}}},
}


@pytest.mark.parametrize("left_out", [None, *(FULL.keys() - {"id", "at"})])
def test_a_row_that_was_read_becomes_the_same_model_and_the_same_row(left_out):
    row = {name: value for name, value in FULL.items() if name != left_out}
    made, theirs = Sample.from_raw(row), Sample.from_raw_data(row)
    assert type(made.params) is type(theirs.params)
    assert made.serialize() == Model.serialize(theirs) == Model.serialize(made)
    defaults = {"version": {"N": "1"}, "labels": {"S": "[]"}}
    assert made.serialize() == {**defaults, **row}


def test_what_is_null_or_unknown_in_a_row_is_passed_over():
    row = {**FULL, "s": {"NULL": True}, "version": {"NULL": True}, "newer": {"S": "x"}}
    made, theirs = Sample.from_raw(row), Sample.from_raw_data(row)
    assert (made.short, made.version) == (theirs.short, theirs.version) == (None, 1)
    assert made.serialize() == Model.serialize(theirs)


def test_each_model_has_defaults_of_its_own():
    row = {"id": {"S": "one"}, "at": FULL["at"]}
    first, second = Sample.from_raw(row), Sample.from_raw(row)
    first.labels.append("a")
    assert (first.labels, second.labels) == (["a"], [])


def test_a_value_of_another_type_is_refused_by_name():
    row = {**FULL, "at": {"N": "1"}}
    for read in (Sample.from_raw, Sample.from_raw_data):
        with pytest.raises(AttributeDeserializationError, match="'at'"):
            read(row)


def test_a_row_without_what_it_must_have_is_not_written():
    made = Sample("one", at=NOW)
    assert made.serialize() == Model.serialize(made)
    made.at = None
    for write in (made.serialize, lambda: Model.serialize(made)):
        with pytest.raises(AttributeNullError, match="'at'"):
            write()
    assert made.serialize(null_check=False) == Model.serialize(made, null_check=False)


def test_an_empty_set_is_not_stored():
    made = Sample("one", at=NOW, names=set())
    assert "names" not in made.serialize()
    assert made.serialize() == Model.serialize(made)


@pytest.mark.parametrize("table", every_table(), ids=lambda table: table.bare_name())
def test_no_table_has_what_is_passed_over(table):
    """A descriptor that does more than PynamoDB's, a list of maps, a class told by a row."""
    attributes = table.get_attributes()
    kinds = {type(each) for each in attributes.values()}
    assert {kind.__get__ for kind in kinds - {MapAttribute}} == {UnicodeAttribute.__get__}
    assert not any(issubclass(kind, ListAttribute | DiscriminatorAttribute) for kind in kinds)
    assert FORM not in {each.attr_name for each in attributes.values()}
