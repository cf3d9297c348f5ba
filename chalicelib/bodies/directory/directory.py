"""Bodies by which an administrator runs the directory synchronisation, by a client or a page."""

from __future__ import annotations

from typing import Annotated, Any

from chalicelib.bodies.directory.directory_settings import DirectorySettingsBody
from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import in_list, max_length, required, utf8
from chalicelib.domain.light import dataclass


@dataclass(frozen=True, slots=True)
class RunBody:
    """Clients send nothing; whoever was told that a run removes much repeats the words."""

    confirm: Annotated[str | None, utf8, max_length(255)] = None


DOINGS = ("save", "test", "disable", "dry-run", "run")


@dataclass(frozen=True, slots=True)
class PageBody:
    """What the buttons of the page about the directory ask for; the settings are beside it."""

    do: Annotated[str, required, in_list(*DOINGS)]


def settings_sent(page: Draft[PageBody]) -> Draft[DirectorySettingsBody]:
    """The settings as a form has them, in the form that other clients send.

    A form has servers in one line, and ends lines in its own way.
    """
    domains = page.members.get("domains")
    if isinstance(domains, list):  # so names that are numbers arrive
        domains = {str(at): domain for at, domain in enumerate(domains)}
    if isinstance(domains, dict):
        domains = {name: _domain_sent(domain) for name, domain in domains.items()}
    return Draft(DirectorySettingsBody, {**page.members, "domains": domains})


def _domain_sent(domain: Any) -> Any:
    if not isinstance(domain, dict):
        return domain
    hosts, certificate = domain.get("hosts"), domain.get("ca_certificate")
    sent = dict(domain)
    if isinstance(hosts, str):
        sent["hosts"] = hosts.replace(",", " ").split()
    if isinstance(certificate, str):
        sent["ca_certificate"] = certificate.replace("\r\n", "\n")
    return sent
