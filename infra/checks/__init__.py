"""What must be true of a tenant's template, whoever or whatever has written it.

Each check says in sentences what is wrong, and nothing where all is well. It knows the code
and CloudFormation, but not how the template was composed. General linters look for what is
wrong in any template; these look for what would be wrong in ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from infra.checks import functions, gateway, mails, objects, quotas, references, rests, rights
from infra.template.elements import Json

Check = Callable[[Json], Iterator[str]]
CHECKS: tuple[Check, ...] = (
    references.everything_named_exists,
    references.nothing_goes_in_circles,
    references.nothing_names_an_account,
    gateway.every_route_leads_to_its_function,
    gateway.nothing_else_is_served,
    gateway.functions_may_be_called,
    gateway.bodies_stay_unseen,
    gateway.requests_are_bounded,
    gateway.refusals_wear_the_envelope,
    rights.roles_are_their_functions_own,
    rights.rows_are_those_of_the_group,
    rights.nothing_else_is_allowed,
    rights.keys_are_read_by_few,
    functions.functions_run_what_was_tested,
    functions.settings_are_those_the_code_reads,
    functions.no_secret_is_told,
    functions.releases_go_back,
    rests.tables_are_those_of_the_code,
    rests.tables_stay,
    rests.all_that_rests_is_encrypted,
    rests.logs_are_kept_for_a_time,
    rests.buckets_are_closed,
    objects.answers_are_left_by_who_lists,
    objects.answers_go_after_a_day,
    objects.pages_only_read,
    mails.streams_are_of_what_is_followed,
    mails.new_rows_call_who_follows,
    mails.mails_have_one_sender,
    quotas.exceeded,
)


def findings(template: Json) -> list[str]:
    """Everything that is wrong with a tenant's template."""
    return [finding for check in CHECKS for finding in check(template)]
