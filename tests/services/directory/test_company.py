"""The directory that tests are made with does what they ask of it."""

from __future__ import annotations

from tests.support.company.company import Company


def test_an_entry_keeps_its_identifier_wherever_it_moves(company: Company) -> None:
    dn = company.person("ada")
    found = company.id_of(dn)
    moved = company.move(company.rename(dn, "uid=countess"), company.unit("former"))
    assert moved == "uid=countess,ou=former,dc=example,dc=org"
    assert company.id_of(moved) == found


def test_an_account_of_the_other_kind_is_switched_off(active_directory: Company) -> None:
    dn = active_directory.person("ada")
    active_directory.disable(dn)
    assert active_directory.id_of(dn)
