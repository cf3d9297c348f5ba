"""`python -m infra.local_server` serves Keyhaven on this machine."""

import sys

from infra.installed import NotInstalled, load

try:
    serve = load("infra.local_server.serve")
except NotInstalled as problem:
    print(problem, file=sys.stderr)
    sys.exit(2)
serve.main()
