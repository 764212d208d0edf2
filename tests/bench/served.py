"""Settings of the benchmark's processes: those of the tests, with messages over Redis as the product sends them.

``EVENKEEL_TEST_HOME``, ``REDIS_URL`` and, for what the benchmark starts, ``DATABASE_URL`` say where all is.
"""

from tests.dashboard.settings import *  # noqa: F403 - the home is known by these alone
from tests.dashboard.settings import REDIS_URL

HOST = {"address": REDIS_URL, "max_connections": 10_000, "socket_timeout": None, "driver_info": None}
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [HOST]}},
}
ALLOWED_HOSTS = ["127.0.0.1", "testserver"]
# Without a name it follows the database's, of which the processes are told differently: as a test's, and by a URL.
SESSION_COOKIE_NAME = "evenkeel-bench"
