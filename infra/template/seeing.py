"""What people look at: queries of each tenant's logs, and dashboards of the cell.

A dashboard costs three dollars a month, so a cell has two and no tenant its own: one of all
tenants, and one that shows whichever tenant is named in the field at its top.
"""

from __future__ import annotations

from infra.template.elements import Json, Resources, compact, ref, resource, sub
from infra.template.functions import FUNCTIONS

QUERIES = {
    "accidents": (
        "fields @timestamp, @log, result, step, action, object, request_id"
        ' | filter event = "accident" | sort @timestamp desc | limit 100'
    ),
    "slowest actions": (
        'filter event = "request" | stats count(*) as requests, pct(duration_ms, 50) as half,'
        " pct(duration_ms, 90) as tenth, max(duration_ms) as longest by action"
        " | sort tenth desc | limit 50"
    ),
    "refusals": (
        'filter event = "request" and status >= 400'
        " | stats count(*) as refused by action, status | sort refused desc | limit 50"
    ),
    "mails": (
        'filter event = "mail" | stats count(*) as mails by result, step, template'
        " | sort mails desc"
    ),
    "what the prober saw": (
        'fields @timestamp, object, status | filter event = "probe" | sort @timestamp desc'
        " | limit 100"
    ),
    "one request": (
        'fields @timestamp, @log, @message | filter request_id = "PUT-IT-HERE"'
        " | sort @timestamp asc"
    ),
}
"""By name; of lines as `chalicelib/domain/operator/audit.py` writes them."""
TENANT = "TENANT"
"""What stands in the widgets of a tenant for its name."""
_WIDTH, _HEIGHT = 12, 6


def queries() -> Resources:
    """Saved queries over all logs of a tenant's functions."""
    groups = [ref(each.logs) for each in FUNCTIONS]
    return {
        f"Query{''.join(word.title() for word in name.split())}": resource(
            "Logs::QueryDefinition",
            {
                "Name": sub(f"keyhaven/${{TenantId}}/{name}"),
                "QueryString": text,
                "LogGroupNames": groups,
            },
        )
        for name, text in QUERIES.items()
    }


def dashboards() -> Resources:
    return {
        "Overview": resource("CloudWatch::Dashboard", _dashboard("cell", _shown("keyhaven-"))),
        "OneTenant": resource(
            "CloudWatch::Dashboard",
            _dashboard("tenant", _shown(f"keyhaven-{TENANT}-"), [_which_tenant()]),
        ),
    }


def _dashboard(name: str, widgets: list[Json], variables: list[Json] | None = None) -> Json:
    body: Json = {"widgets": widgets, **({"variables": variables} if variables else {})}
    return {
        "DashboardName": sub(f"keyhaven-{name}-${{AWS::Region}}"),
        "DashboardBody": sub(compact(body)),
    }


def _which_tenant() -> Json:
    return {
        "type": "pattern",
        "pattern": TENANT,
        "inputType": "input",
        "id": "tenant",
        "label": "Tenant",
        "defaultValue": "acme",
        "visible": True,
    }


def _shown(named: str) -> list[Json]:
    """What each shows of the functions, tables and APIs that are called so."""
    functions = "AWS/Lambda,FunctionName,Resource"
    charts = [
        ("accidents", _searched("Keyhaven,FunctionName", "Accidents", named, "Sum")),
        ("functions that fail", _searched(functions, "Errors", named, "Sum")),
        ("half of the answers within, ms", _searched(functions, "Duration", named, "p50")),
        ("nine of ten answers within, ms", _searched(functions, "Duration", named, "p90")),
        ("requests", _searched(functions, "Invocations", named, "Sum")),
        ("calls turned away", _searched(functions, "Throttles", named, "Sum")),
        ("errors of the gateway", _searched("AWS/ApiGateway,ApiName", "5XXError", named, "Sum")),
        ("reads of tables", _searched("AWS/DynamoDB,TableName", _READ, named, "Sum")),
        ("writes of tables", _searched("AWS/DynamoDB,TableName", _WRITTEN, named, "Sum")),
        ("mails sent", _searched("Keyhaven,FunctionName", "MailsSent", named, "Sum")),
        ("mails refused", _searched("Keyhaven,FunctionName", "MailsRefused", named, "Sum")),
        ("what failed and waits", _searched("AWS/SQS,QueueName", _WAITING, named, "Maximum")),
    ]
    return [_chart(number, *chart) for number, chart in enumerate(charts)]


_READ, _WRITTEN = "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"
_WAITING = "ApproximateNumberOfMessagesVisible"


def _searched(measured: str, metric: str, named: str, statistic: str) -> str:
    name = named.rstrip("-") if measured.startswith("AWS/ApiGateway") else named
    return f"SEARCH('{{{measured}}} MetricName=\"{metric}\" {name}', '{statistic}', 300)"


def _chart(number: int, title: str, expression: str) -> Json:
    return {
        "type": "metric",
        "x": number % 2 * _WIDTH,
        "y": number // 2 * _HEIGHT,
        "width": _WIDTH,
        "height": _HEIGHT,
        "properties": {
            "title": title,
            "region": "${AWS::Region}",
            "metrics": [[{"expression": expression, "label": ""}]],
        },
    }
