"""What runs without a request. It writes the same lines as requests do, so at the same level."""

import logging

logging.getLogger("keyhaven").setLevel(logging.INFO)
