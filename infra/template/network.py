"""The network that leads to a company's directory, for the functions that ask it.

Directories are private: the tenant names subnets and a security group from which theirs is
reached, and only functions that ask a directory are put there. Without them, nothing is.
"""

from __future__ import annotations

from infra.template.elements import Json, Resources, either, ref, resource, sub
from infra.template.functions import Function
from infra.template.roles import allow, policy

IS_GIVEN = "HasDirectoryNetwork"
INTERFACES = (
    *("CreateNetworkInterface", "DescribeNetworkInterfaces", "DeleteNetworkInterface"),
    *("DescribeSubnets", "AssignPrivateIpAddresses", "UnassignPrivateIpAddresses"),
)
"""What Lambda does as the function's role when it puts the function into subnets."""


def placed(which: Function) -> Json:
    """The properties of a function that asks a directory; none for others."""
    if not which.group.asks_directory:
        return {}
    inside = {
        "SubnetIds": {"Fn::Split": [",", ref("DirectorySubnets")]},
        "SecurityGroupIds": [ref("DirectorySecurityGroup")],
    }
    return {"VpcConfig": either(IS_GIVEN, inside)}


def network(which: Function) -> Resources:
    """The right to be put there: Lambda's alone, denied to what runs in the function.

    It is there without a network too, as nothing may depend on what is there only with one.
    """
    if not which.group.asks_directory:
        return {}
    actions = [f"ec2:{action}" for action in INTERFACES]
    its_own = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:"
    by_itself = {
        "ArnEquals": {
            "lambda:SourceFunctionArn": sub(f"{its_own}keyhaven-${{TenantId}}-{which.name}")
        }
    }
    denied = {**allow(actions, ["*"], Condition=by_itself), "Effect": "Deny"}
    properties: Json = {
        **policy("network", [allow(actions, ["*"]), denied]),
        "Roles": [ref(which.role)],
    }
    return {which.network: resource("IAM::Policy", properties)}
