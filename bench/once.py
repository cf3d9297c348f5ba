"""One process of a function: imports the app, answers the requests it is given, and ends.

The time from its start to its end is a cold start; its memory is a function's. The kernel's
`ru_maxrss` would begin with that of the process which started this one.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from app import app

for event in json.load(sys.stdin):
    answer = app(event, None)
    assert answer["statusCode"] == 200, answer["body"][:200]
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
assert peak is not None
print(int(peak[1]) // 1024)
