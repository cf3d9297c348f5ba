"""One visit with passbolt-python-api: somebody reads what there is for them.

Run with that client's own Python, the configuration as JSON. Its last line is each password by
the name of its resource, as JSON.
"""

import json
import sys

import passboltapi

with passboltapi.PassboltAPI(config=json.load(sys.stdin)) as client:
    opened = {each["name"]: client.get_password(each["id"]) for each in client.iterate_resources()}
    sys.stdout.write(json.dumps(opened) + "\n")
