"""`python -m infra.local` serves Keyhaven on this machine."""

import sys

from infra.installed import NotInstalled, load

try:
    serve = load("infra.local.serve")
except NotInstalled as problem:
    print(problem, file=sys.stderr)
    sys.exit(2)
serve.main()
