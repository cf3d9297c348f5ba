"""Clients of AWS's services, which open faster than botocore's own and are the same."""

from __future__ import annotations

import botocore.session
import pytest

from chalicelib import aws
from chalicelib.domain.deadline import Patience
from chalicelib.settings import settings

PATIENCE = Patience(tries=2, connect=0.7, answer=1.5)


@pytest.mark.parametrize("service", ["secretsmanager", "s3", "sesv2", "apigateway", "lambda"])
def test_a_client_is_the_one_that_botocore_opens(service):
    ours = aws.client(service, PATIENCE)
    theirs = botocore.session.get_session().create_client(service, settings.region)

    assert ours.meta.endpoint_url == theirs.meta.endpoint_url
    assert ours.meta.method_to_api_mapping == theirs.meta.method_to_api_mapping
    assert ours._ruleset_resolver is not None
    assert (ours._ruleset_resolver is None) == (theirs._ruleset_resolver is None)


def test_a_client_is_as_patient_as_is_said():
    config = aws.client("s3", PATIENCE, signature_version="s3v4").meta.config

    assert (config.connect_timeout, config.read_timeout) == (0.7, 1.5)
    assert config.retries == {"mode": "standard", "total_max_attempts": 2}
    assert config.signature_version == "s3v4"
