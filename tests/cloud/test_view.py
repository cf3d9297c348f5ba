"""What the local cloud is given is the template that is deployed, but for what is told here."""

from __future__ import annotations

import pytest

from infra.bundle.bundle import Bundle
from infra.local_cloud.conditions import standing
from infra.local_cloud.view import view
from infra.template.cell.platform import platform
from infra.template.tenant import tenant
from infra.template.tiers import TIERS

BUNDLE = Bundle("0" * 16, "1" * 16)
TEMPLATES = {
    "platform": platform(BUNDLE),
    **{name: tenant(tier, BUNDLE) for name, tier in TIERS.items()},
}
LEFT_OUT = {
    "AWS::Backup::BackupSelection",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::CodeDeploy::Application",
    "AWS::CodeDeploy::DeploymentGroup",
    "AWS::IAM::OIDCProvider",
    "AWS::Logs::QueryDefinition",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::TopicPolicy",
    "AWS::WAFv2::WebACLAssociation",
}


@pytest.fixture(params=TEMPLATES)
def deployed(request):
    return TEMPLATES[request.param]


def resources_of(template, *kinds):
    return {name: each for name, each in template["Resources"].items() if each["Type"] in kinds}


def asked_by_reference(value, secrets):
    """A value with references to secrets as the template has them."""
    if isinstance(value, list):
        return [asked_by_reference(each, secrets) for each in value]
    if not isinstance(value, dict):
        return value
    for name in secrets:
        if value == {"Fn::GetAtt": [name, "Id"]}:
            return {"Ref": name}
    return {name: asked_by_reference(each, secrets) for name, each in value.items()}


def said_of(template):
    """What the local cloud is told, without what only it needs and with references as they were."""
    secrets = resources_of(template, "AWS::SecretsManager::Secret")
    said = asked_by_reference(view(template), secrets)
    for each in said["Resources"].values():
        if each["Type"] == "AWS::ApiGateway::RestApi":
            del each["Properties"]["BinaryMediaTypes"]
        if each["Type"] == "AWS::ApiGateway::Deployment":
            del each["DependsOn"]
    return said


def test_it_says_of_each_resource_what_the_template_says(deployed):
    said = said_of(deployed)["Resources"]
    kept = deployed["Resources"].keys() & said.keys()

    for name in kept:
        as_deployed = {
            key: value
            for key, value in deployed["Resources"][name].items()
            if key != "UpdatePolicy"
        }
        assert said[name] == as_deployed


def test_it_says_all_but_the_resources_as_the_template_does(deployed):
    said = said_of(deployed)

    assert said.keys() == deployed.keys()
    for part in deployed.keys() - {"Resources"}:
        assert said[part] == deployed[part]


def test_it_leaves_out_only_what_the_local_cloud_does_not_know(deployed):
    left_out = deployed["Resources"].keys() - view(deployed)["Resources"].keys()

    assert {deployed["Resources"][name]["Type"] for name in left_out} <= LEFT_OUT
    for name in left_out & resources_of(deployed, "AWS::CloudWatch::Alarm").keys():
        assert "Metrics" in deployed["Resources"][name]["Properties"], "only sums are left out"


def test_it_adds_only_what_the_document_of_the_api_says(deployed):
    said = view(deployed)["Resources"]
    added = {name: said[name]["Properties"] for name in said.keys() - deployed["Resources"].keys()}
    documents = [
        (name, api["Properties"]["Body"])
        for name, api in resources_of(deployed, "AWS::ApiGateway::RestApi").items()
    ]

    expected = [
        {
            "RestApiId": {"Ref": name},
            "ResponseType": kind,
            "StatusCode": answer["statusCode"],
            "ResponseParameters": answer["responseParameters"],
            "ResponseTemplates": answer["responseTemplates"],
        }
        for name, document in documents
        for kind, answer in document["x-amazon-apigateway-gateway-responses"].items()
    ]
    assert sorted(added.values(), key=str) == sorted(expected, key=str)


def test_the_api_takes_the_types_of_its_document(deployed):
    for api in resources_of(view(deployed), "AWS::ApiGateway::RestApi").values():
        types = api["Properties"]["Body"]["x-amazon-apigateway-binary-media-types"]
        assert api["Properties"]["BinaryMediaTypes"] == types


def test_a_deployment_waits_for_what_the_gateway_answers_by_itself(deployed):
    said = view(deployed)
    responses = resources_of(said, "AWS::ApiGateway::GatewayResponse")

    for deployment in resources_of(said, "AWS::ApiGateway::Deployment").values():
        assert set(deployment["DependsOn"]) == responses.keys()


def test_the_template_itself_stays_as_it_is():
    again = {"platform": platform(BUNDLE), **{n: tenant(t, BUNDLE) for n, t in TIERS.items()}}
    for template in TEMPLATES.values():
        view(template)

    assert again == TEMPLATES


def test_a_view_of_what_was_a_view_is_the_same(deployed):
    """A restore adds tables to the template that stands, and that is a view already."""
    said = view(deployed)

    assert view(said) == said


def test_of_a_change_only_what_stands_is_told():
    template = TEMPLATES["platform"]

    def left_out(**given):
        return template["Resources"].keys() - standing(template, given)["Resources"].keys()

    [layer] = resources_of(template, "AWS::Lambda::LayerVersion")
    certificate = {"Certificate", "CertificateEnds"}
    roles = {"DeployerRole", "CiRole", "CiTokens"}
    assert left_out() == {"AlarmMail", *certificate, layer, *roles}
    domain = {"Domain": "x.example"}
    assert left_out(HasLayerInBucket="yes", **domain) == {"AlarmMail", *certificate, *roles}
    assert left_out(AlarmAddress="a@x.example", HostedZone="Z1", **domain) == {layer, *roles}
    issuer = {"CiIssuer": "tokens.example", "CiSubject": "repo:x"}
    assert roles & left_out(Deployers="111122223333", **issuer) == set()


def test_what_stands_is_told_as_the_template_says_it(deployed):
    said = standing(deployed, {})

    for name, each in said["Resources"].items():
        assert each == deployed["Resources"][name]
    assert {**said, "Resources": {}} == {**deployed, "Resources": {}}
