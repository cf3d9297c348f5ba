"""One visit with the lab client `passbolt`: somebody reads what there is for them.

Run with that client's own Python, the configuration as JSON; `admits` in it is the address of a
person whom they take into the crew first. Its last line is each secret by the name of its
resource, as JSON.
"""

import json
import sys

from lab import as_text
from passbolt import PassboltAPI

configuration = json.load(sys.stdin)
client = PassboltAPI(configuration)
if "admits" in configuration:
    person = client.get_user_by_email(configuration["admits"])
    client.put_user_on_group(client.get_group_by_name("crew")["id"], person["id"])
opened = {
    each["name"]: as_text(client.decrypt(client.get_resource_secret(each["id"])))
    for each in client.get_resources()
}
sys.stdout.write(json.dumps(opened) + "\n")
