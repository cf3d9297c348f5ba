"""The floor of a cold start: botocore, one DynamoDB client, one row read, and the end."""

from __future__ import annotations

import os
import sys

import botocore.session

table, key = sys.argv[1:]
client = botocore.session.get_session().create_client(
    "dynamodb",
    region_name=os.environ["AWS_REGION"],
    endpoint_url=os.environ["DYNAMODB_ENDPOINT"],
)
client.get_item(TableName=table, Key={"id": {"S": key}}, ConsistentRead=True)
