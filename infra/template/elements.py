"""The words CloudFormation templates are written in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

Json = dict[str, Any]
Resources = dict[str, Json]
"""Resources of a stack, by logical name."""
NO_VALUE: Json = {"Ref": "AWS::NoValue"}


def ref(name: str) -> Json:
    return {"Ref": name}


def attribute(name: str, which: str) -> Json:
    return {"Fn::GetAtt": [name, which]}


def arn(name: str) -> Json:
    return attribute(name, "Arn")


def sub(text: str) -> Json:
    return {"Fn::Sub": text}


def either(condition: str, yes: Any, no: Any = NO_VALUE) -> Json:
    return {"Fn::If": [condition, yes, no]}


def equals(parameter: str, value: str) -> Json:
    return {"Fn::Equals": [ref(parameter), value]}


def is_given(parameter: str) -> Json:
    """The condition that a parameter, empty unless it is given, has a value."""
    return {"Fn::Not": [equals(parameter, "")]}


def resource(kind: str, properties: Json, **further: Any) -> Json:
    return {"Type": f"AWS::{kind}", **further, "Properties": properties}


def kept(kind: str, properties: Json, **further: Any) -> Json:
    """A resource that stays when its stack is deleted or would replace it."""
    policies = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    return resource(kind, properties, **policies, **further)


def merged(*parts: Resources) -> Resources:
    """All resources of a stack; two of one name are a mistake."""
    together: Resources = {}
    for part in parts:
        if twice := together.keys() & part.keys():
            raise ValueError(f"the template names twice: {', '.join(sorted(twice))}")
        together |= part
    return together


def logical(*words: str) -> str:
    """`group_items`, `table` as the logical name `GroupItemsTable`."""
    parts = (part for word in words for part in word.replace("-", "_").split("_"))
    return "".join(part[:1].upper() + part[1:] for part in parts)


def digest(*values: Any) -> str:
    """A word for the values: the same for the same, another for any others."""
    told = json.dumps(values, sort_keys=True).encode()
    return sha256(told).hexdigest()[:12]


def compact(template: Mapping[str, Any]) -> str:
    """A template as it is sent: CloudFormation counts each byte."""
    return json.dumps(template, separators=(",", ":"), sort_keys=True)


def text(template: Mapping[str, Any]) -> str:
    """A template as it is reviewed and tested: a line for each value, and no indentation."""
    return json.dumps(template, indent=0, separators=(",", ":"), sort_keys=True) + "\n"
