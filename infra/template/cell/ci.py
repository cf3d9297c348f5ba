"""CI, which brings builds to tenants: a role that one workflow takes by a token of its issuer.

No key of AWS lies anywhere: the issuer of CI signs who asks (OpenID Connect), and the trust of the
role names the issuer, the audience and the subject as wholes. It may do what `MayRelease` allows.
"""

from __future__ import annotations

from infra.template.cell.deployers import RELEASES
from infra.template.elements import Json, Resources, compact, ref, resource, sub

CI = "CiRole"
NAME = "keyhaven-ci-${AWS::Region}"
AUDIENCE = "sts.amazonaws.com"
SIX_HOURS = 6 * 3600
"""The longest a job of GitHub's may take."""


def ci() -> Resources:
    provider: Json = {"Url": sub("https://${CiIssuer}"), "ClientIdList": [AUDIENCE]}
    role: Json = {
        "RoleName": sub(NAME),
        "Description": "Brings builds to Keyhaven's tenants.",
        "AssumeRolePolicyDocument": sub(compact(_trust())),
        "MaxSessionDuration": SIX_HOURS,
        "ManagedPolicyArns": [ref(RELEASES)],
    }
    return {
        "CiTokens": resource("IAM::OIDCProvider", provider, Condition="MakesCiProvider"),
        CI: resource("IAM::Role", role, Condition="HasCi"),
    }


def _trust() -> Json:
    """As text, in which the issuer can stand on the left: a template has no other way to say so."""
    account = "arn:${AWS::Partition}:iam::${AWS::AccountId}"
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": f"{account}:oidc-provider/${{CiIssuer}}"},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {"${CiIssuer}:aud": AUDIENCE, "${CiIssuer}:sub": "${CiSubject}"}
        },
    }
    return {"Version": "2012-10-17", "Statement": [statement]}
