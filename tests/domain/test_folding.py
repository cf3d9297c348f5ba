"""Texts that mean the same letters have one form, and others have not."""

# ruff: noqa: RUF001 - signs that look like others are what it is about

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.addresses import canonical_domain
from chalicelib.domain.folding import folded

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
letters = st.characters(categories=["L", "M", "N"]) | st.characters()
texts = st.text(letters)


@pytest.mark.parametrize(
    "texts",
    [
        ("José", "Jose\u0301", "JOSÉ", "JOSE\u0301"),
        ("Ａｄａ", "ada"),
        ("straße", "STRASSE", "STRAẞE"),
        ("ad\u200ba", "\ufeffada", "ad\u00ada", "ada\ufe0f", "a\u034fda", "ada\u3164"),
        ("e\u200b\u0301", "é"),
        ("ﬁsch", "fisch"),
        ("σοφός", "ΣΟΦΌΣ", "σοφόσ"),
        ("ᾳ\u0345", "ΑΙΙ"),
        ("한", "\u1112\u1161\u11ab"),
        ("q\u0323\u0307", "q\u0307\u0323"),
        ("𝐀da", "ADA"),
    ],
)
def test_these_are_one(texts):
    assert len({folded(text) for text in texts}) == 1


@pytest.mark.parametrize("texts", [("jose", "josé"), ("ada", "аda"), ("ı", "i"), ("a b", "ab")])
def test_these_are_different_ones(texts):
    assert len({folded(text) for text in texts}) == len(texts)


@given(texts)
def test_a_text_has_one_form_however_its_letters_are_composed(text):
    assert {folded(unicodedata.normalize(form, text)) for form in FORMS} == {folded(text)}


@given(texts)
def test_what_is_folded_stays_as_it_is(text):
    assert folded(folded(text)) == folded(text)


@given(st.text(st.characters(categories=["L", "M"]), max_size=20))
def test_a_domain_has_one_form_however_its_letters_are_composed(text):
    forms = {canonical_domain(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}

    assert forms == {canonical_domain(text)}
    assert canonical_domain(canonical_domain(text)) == canonical_domain(text)
