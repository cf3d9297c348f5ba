"""One visit with the command line of passbolt-wrench, each command in a process of its own.

Run with that client's own Python, the configuration as JSON. Its last line is what the commands
printed, by command, as JSON. A command has no terminal: it asks for passwords where it asks for
all else. The client is unchanged, but three things are done around it, which its users have to do
as well:

- The folder of its keys is made: it leaves that to python-gnupg, which no longer does it.
- GnuPG does not verify: Sequoia salts each signature of the server with a notation of random
  bytes, GnuPG reports them raw, and python-gnupg fails to read the report as UTF-8.
- Its cookies are forgotten between two commands: it asks for its session under a path that is no
  longer there, and a sign-in beside an open session is refused.
"""

import json
import os
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

configuration = json.load(sys.stdin)
home = Path(os.environ["HOME"])
keyring = home / ".config" / "requests_gpgauthlib" / ".gnupg"


def settle() -> None:
    """Write what the command line would ask for when it is first called."""
    keyring.mkdir(parents=True, mode=0o700)
    (keyring / "gpg.conf").write_text("skip-verify\n")
    file = home / ".config" / "wrench" / "config.ini"
    file.parent.mkdir(parents=True)
    parser = RawConfigParser()
    service = {"server_url": configuration["url"], "server_fingerprint": configuration["server"]}
    parser.read_dict({"auth": {**service, "http_username": "", "http_password": ""}, "sharing": {}})
    with file.open("w") as opened:
        parser.write(opened)


def wrench(*arguments: str, answers: tuple[str, ...] = ()) -> str:
    """What a command printed, which was given these answers to its questions."""
    (keyring.parent / "gpgauth_session_cookies").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "wrench.commands", *arguments],
        input="".join(f"{answer}\n" for answer in answers),
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


settle()
try:
    seen = {
        "import-key": wrench("import-key", configuration["private_key_file"]),
        **{
            f"add {answers[0]}": wrench("add", answers=tuple(answers))
            for answers in configuration["adds"]
        },
        **{f"search {term}": wrench("search", term) for term in configuration["searches"]},
        **{
            " ".join(arguments): wrench(*arguments, answers=tuple(answers))
            for arguments, answers in configuration["others"]
        },
    }
finally:
    subprocess.run(["gpgconf", "--homedir", keyring, "--kill", "all"], check=False)
sys.stdout.write(json.dumps(seen) + "\n")
