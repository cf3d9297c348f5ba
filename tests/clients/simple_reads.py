"""One visit with simple-passbolt-client: run with its own Python, the configuration as JSON.

Its last line is what the client returned, as JSON. This client signs in and reads secrets by the
identifiers of their resources.
"""

import json
import sys

from pybolt import Bolt

configuration = json.load(sys.stdin)
client = Bolt(configuration["url"], configuration["private_key_file"], "")
client.verify()
client.login()
opened = {each: client.get_secret(each) for each in configuration["resources"]}
sys.stdout.write(json.dumps(opened) + "\n")
