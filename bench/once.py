"""One process of a function: imports the app, answers the requests it is given, and ends.

The time from its start to its end is a cold start; its memory is a function's.
"""

from __future__ import annotations

import json
import resource
import sys

from app import app

for event in json.load(sys.stdin):
    answer = app(event, None)
    assert answer["statusCode"] == 200, answer["body"][:200]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
