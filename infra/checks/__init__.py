"""What must be true of the templates, whoever or whatever has written them.

Each check says in sentences what is wrong, and nothing where all is well. It knows the code
and CloudFormation, but not how the template was composed. General linters look for what is
wrong in any template; these look for what would be wrong in ours. What none of them looks for,
`shapes` finds: whatever differs from what was reviewed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache

from infra.checks import (
    alarms,
    deployers,
    firewall,
    functions,
    gateway,
    mails,
    objects,
    quotas,
    references,
    rests,
    rights,
    shapes,
    trust,
)
from infra.template.elements import Json

Check = Callable[[Json], Iterator[str]]
CHECKS: tuple[Check, ...] = (
    references.everything_named_exists,
    references.nothing_goes_in_circles,
    references.nothing_names_an_account,
    gateway.every_route_leads_to_its_function,
    gateway.nothing_else_is_served,
    gateway.functions_may_be_called,
    gateway.private_apis_are_closed,
    gateway.names_are_reached_by_tls,
    gateway.bodies_stay_unseen,
    gateway.requests_are_bounded,
    gateway.refusals_wear_the_envelope,
    rights.roles_are_their_functions_own,
    rights.rows_are_those_of_the_group,
    rights.nothing_else_is_allowed,
    rights.keys_are_read_by_few,
    rights.networks_are_of_who_asks,
    functions.functions_run_what_was_tested,
    functions.settings_are_those_the_code_reads,
    functions.settings_are_told,
    functions.no_secret_is_told,
    functions.releases_go_back,
    functions.releases_are_gradual,
    functions.aliases_lead_to_versions,
    functions.versions_are_of_what_was_built,
    functions.snapshots_are_allowed,
    rests.tables_are_those_of_the_code,
    rests.tables_stay,
    rests.all_that_rests_is_encrypted,
    rests.replicas_are_encrypted,
    rests.logs_are_kept_for_a_time,
    rests.buckets_are_closed,
    rests.objects_can_be_had_back,
    objects.answers_are_left_by_who_lists,
    objects.answers_go_after_a_day,
    objects.exports_are_left_by_one,
    objects.exports_stay,
    objects.objects_go_in_time,
    objects.pages_only_read,
    mails.streams_are_of_what_is_followed,
    mails.new_rows_call_who_follows,
    mails.mails_have_one_sender,
    mails.identities_are_the_tenants_own,
    alarms.alarms_tell_somebody,
    alarms.every_function_is_listened_to,
    alarms.schedules_call_and_are_missed,
    trust.roles_are_taken_by_one_service,
    trust.keys_are_ruled_by_the_account,
    trust.buckets_are_reached_by_tls,
    deployers.kinds_are_reviewed,
    quotas.exceeded,
    shapes.unreviewed,
)
OF_A_CELL: tuple[Check, ...] = (
    references.everything_named_exists,
    references.nothing_goes_in_circles,
    references.nothing_names_an_account,
    functions.no_secret_is_told,
    rests.buckets_are_closed,
    rests.objects_can_be_had_back,
    alarms.alarms_tell_somebody,
    trust.roles_are_taken_by_one_service,
    trust.keys_are_ruled_by_the_account,
    trust.buckets_are_reached_by_tls,
    deployers.roles_are_made_with_the_bound,
    deployers.roles_are_handed_to_services,
    deployers.stacks_are_written_by_the_role,
    deployers.secrets_stay_unread,
    deployers.secrets_can_be_brought_back,
    deployers.restores_are_of_our_tables,
    deployers.archives_are_written_once,
    deployers.deployers_are_users,
    deployers.ci_is_one_subject,
    deployers.ci_only_releases,
    deployers.policies_fit,
    firewall.rules_refuse,
    firewall.requests_stay_unseen,
    firewall.sign_ins_are_bounded,
    shapes.unreviewed,
)
"""What must be true of the platform's template."""


def findings(template: Json) -> list[str]:
    """Everything that is wrong with a tenant's template."""
    return list(_findings(json.dumps(template)))


@lru_cache(maxsize=8)
def _findings(text: str) -> tuple[str, ...]:
    """Once for each template: a command makes the same one in several of its steps."""
    template = json.loads(text)
    return tuple(finding for check in CHECKS for finding in check(template))


def findings_of_a_cell(template: Json) -> list[str]:
    """Everything that is wrong with the platform's template."""
    return [finding for check in OF_A_CELL for finding in check(template)]
