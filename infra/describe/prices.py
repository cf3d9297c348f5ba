"""What AWS asks, in US dollars: Ireland, on demand, without free tiers and discounts.

Noted in November 2026 and not compared with AWS's lists since: to be checked before anybody is
told a price that is made of them.
"""

from __future__ import annotations

NOTED = "November 2026"
MILLION = 1_000_000
HOURS, SECONDS = 730, 730 * 3600
"""Of a month, as AWS counts it."""

GATEWAY_CALLS = 3.50 / MILLION
FIREWALL_CALLS = 0.60 / MILLION
FUNCTION_CALLS = 0.20 / MILLION
FUNCTION_GB_SECOND = 0.0000166667
WARM_GB_SECOND = 0.0000041667
ARM_GB_SECOND = 0.0000133334
SNAPSHOT_GB_SECOND = 0.0000015046
"""Of each published version's memory, used or not, on either processor."""
RESTORED_GB = 0.0001397998
"""Each time a snapshot begins to run."""
READ_UNIT = 0.1415 / MILLION
WRITE_UNIT = 0.7068 / MILLION
TABLE_GB_MONTH = 0.283
RECOVERY_GB_MONTH = 0.2264
COPY_GB_MONTH = 0.1132
"""Of each copy in the backup vault, whole: copies of tables share nothing."""
KEY_MONTH = 1.00
SECRET_MONTH = 0.40
ALARMED_METRIC_MONTH = 0.10
LOG_GB = 0.57
TRACE = 5.00 / MILLION
SENT_GB = 0.09
MAIL = 0.10 / 1000
FIREWALL_MONTH = 5.00 + 3 * 1.00
"""The list and its three rules; a cell has one."""
