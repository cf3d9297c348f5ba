"""One visit with the command line of pbssh: run with its own Python, the configuration as JSON.

Its last line is what the commands printed, by host, as JSON. It looks for a password by the user
and the host of an SSH session. A command has no terminal: it asks for the passphrase, which is
empty, where it reads.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

configuration = json.load(sys.stdin)
settings = Path(os.environ["HOME"]) / ".pbssh"
settings.write_text(
    f"[Passbolt]\nbase_url = {configuration['url']}\n"
    f"gpgkey_path = {configuration['private_key_file']}\n"
)


def password_for(host: str) -> str:
    """What is printed last, after the question for the passphrase."""
    done = subprocess.run(
        [sys.executable, "-m", "pbssh", "--print", host],
        input="\n",
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


sys.stdout.write(json.dumps({host: password_for(host) for host in configuration["hosts"]}) + "\n")
