"""`python -m infra.local` serves Keyhaven on this machine."""

from infra.local.serve import main

main()
