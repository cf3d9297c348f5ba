"""One visit with passbolt-salt: run with its own Python, the configuration as JSON.

Its last line is what the pillar got, or why it got nothing, as JSON. The client opens messages
with `sq` of Sequoia, and asks for no signature.
"""

import json
import os
import sys

from salt_passbolt import generate_pillar
from salt_passbolt.api import PassboltClient, PassboltError
from salt_passbolt.pgp_backend import SequoiaBackend

configuration = json.load(sys.stdin)
os.environ["PATH"] = f"{configuration['sq_in']}:{os.environ['PATH']}"
backend = SequoiaBackend(key_file=configuration["private_key_file"])
try:
    with PassboltClient({"SERVER": configuration["url"]}, backend) as client:
        seen = generate_pillar(client, backend, configuration["group"])
except PassboltError as error:
    seen = {"failed": str(error), "cause": str(error.__cause__)}
sys.stdout.write(json.dumps(seen) + "\n")
