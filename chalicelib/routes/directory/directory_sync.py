"""Runs of the directory synchronisation, and what they leave alone."""

from __future__ import annotations

from chalicelib.bodies.directory.directory import RunBody
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Forbidden
from chalicelib.services.directory import exemptions, synchronisation
from chalicelib.services.directory.reports import Ending, Outcome
from chalicelib.tables.directory.directory_links import DirectoryLink
from chalicelib.views.directory import directory_sync as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.reply import Reply
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_FOR_ADMINISTRATORS = "Directory functions are for administrators."
_DENIED = "You are not authorized to access that location."
_UNFINISHED = {
    Ending.TIME: "The time is over before the run is: run it again to go on.",
    Ending.SETTINGS: (
        "The settings were changed or deleted before the run was over: what is done stays."
    ),
    Ending.ADMINISTRATOR: "You are no active administrator any more: what is done stays.",
}


@endpoints.get(
    "/directorysync/synchronize/dry-run.json",
    action="DirectorySync.dryRun",
    access=Access.ADMIN,
    denied=_FOR_ADMINISTRATORS,
    unauthenticated=Forbidden(_FOR_ADMINISTRATORS),
    view=views.run,
)
def dry_run(actor: Actor) -> Reply:
    """Tell what a run of the directory synchronisation would do, and do nothing."""
    return _told(synchronisation.dry_run(actor), "The simulation is finished.")


@endpoints.post(
    "/directorysync/synchronize.json",
    action="DirectorySync.synchronize",
    access=Access.ADMIN,
    denied=_FOR_ADMINISTRATORS,
    unauthenticated=Forbidden(_FOR_ADMINISTRATORS),
    body=RunBody,
    needs_object=True,
    view=views.run,
)
def synchronize(actor: Actor, body: Draft[RunBody]) -> Reply:
    """Bring users and groups in step with the company's directory."""
    return _told(synchronisation.run(actor, body), "The synchronisation is finished.")


def _told(outcome: Outcome, finished: str) -> Reply:
    message = finished if outcome.ending is None else _UNFINISHED[outcome.ending]
    return Reply(outcome, message=message)


@endpoints.get(
    "/directorysync/ignore/{model}/{subject}.json",
    action="DirectoryIgnore.view",
    access=Access.ADMIN,
    denied=_DENIED,
    view=views.exemption,
    message="The record is on the ignore list.",
)
def exempt(model: str, subject: str) -> DirectoryLink:
    """Show what the ignore list says of a user, a group or an entry of the directory."""
    return exemptions.view(model, subject)


@endpoints.post(
    "/directorysync/ignore/{model}/{subject}.json",
    action="DirectoryIgnore.add",
    access=Access.ADMIN,
    denied=_DENIED,
    view=views.exemption,
    message="The record was added to the ignore list.",
)
def add_exemption(actor: Actor, model: str, subject: str) -> DirectoryLink:
    """Let runs leave a user, a group or an entry of the directory alone."""
    return exemptions.add(actor, model, subject)


@endpoints.delete(
    "/directorysync/ignore/{model}/{subject}.json",
    action="DirectoryIgnore.delete",
    access=Access.ADMIN,
    denied=_DENIED,
    view=nothing,
    message="The record was taken off the ignore list.",
)
def remove_exemption(actor: Actor, model: str, subject: str) -> None:
    """Let runs have to do with it again."""
    exemptions.remove(actor, model, subject)


@endpoints.post(
    "/directorysync/ignore/toggle/{model}/{subject}.json",
    action="DirectoryIgnore.toggle",
    access=Access.ADMIN,
    denied=_DENIED,
    view=views.exemption,
)
def toggle_exemption(actor: Actor, model: str, subject: str) -> Reply:
    """Add a record to the ignore list, or take it off."""
    row = exemptions.toggle(actor, model, subject)
    verb = "taken off" if row is None else "added to"
    return Reply(row, message=f"The record was {verb} the ignore list.")
