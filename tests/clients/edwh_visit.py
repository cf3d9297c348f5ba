"""One visit with what the commands of edwh-passbolt-plugin call, in one process.

Run with that client's own Python, the configuration as JSON. Its last line is what each step
returned, or how it failed, by name, as JSON; a step is a method of the client with what it takes.
"""

import json
import sys

from edwh_passbolt_plugin.passbolt import Passbolt

configuration = json.load(sys.stdin)
login = {"import_key": configuration["private_key"], "passphrase": None, "verify_expiry": 120}
Passbolt.from_login(host=configuration["url"], user_id=configuration["user_id"], **login)
seen = {}
for name, method, arguments in configuration["steps"]:
    # Each command is a process of its own, which finds the session that sign-in has kept.
    client = Passbolt.from_session()
    try:
        seen[name] = getattr(client, method)(**arguments)
    except RuntimeError as failure:
        seen[name] = f"failed: {failure}"
seen["host"] = Passbolt.validate_session()["host"]
sys.stdout.write(json.dumps(seen) + "\n")
