"""As much of Sequoia's `sq` as passbolt-salt calls, over the same library.

The version it calls is in few distributions yet.
"""

import sys

import pysequoia

arguments = sys.argv[1:]
key = pysequoia.Cert.from_file(arguments[-1]) if len(arguments) > 1 else None
if "decrypt" in arguments:
    message = sys.stdin.buffer.read()
    opened = pysequoia.decrypt(message, decryptor=key.secrets.decryptor())
    sys.stdout.buffer.write(opened.bytes)
elif "keyring" in arguments:
    sys.stdout.write(f"0. {key.fingerprint.upper()} {key.user_ids[0]}\n")
