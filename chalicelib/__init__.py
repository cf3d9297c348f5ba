"""The service, by layers: groups, routes, web and views, services, tables, domain."""

import gc

from chalicelib import lazy

# Python looks for circles among young objects at every 700th. To import the service makes
# 100,000 that stay, a long list as many that refer to nothing behind them: looking so often
# would take a tenth of a cold start, and half as long again as the list.
gc.set_threshold(100_000)
lazy.put_off_what_storage_never_uses()
