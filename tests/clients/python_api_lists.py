"""One visit with passbolt-python-api, which lists all it may see; see `python_api.py`."""

import json
import sys

import passboltapi

with passboltapi.PassboltAPI(config=json.load(sys.stdin)) as client:
    listed = client.get("/resources.json?contain[secret]=1")
    seen = {
        "header": listed["header"],
        "names": [each["name"] for each in listed["body"]],
        "messages": [each["secrets"][0]["data"] for each in listed["body"]],
    }
    sys.stdout.write(json.dumps(seen) + "\n")
