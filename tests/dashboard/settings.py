"""The dashboard's settings in a throw-away home; the database is SQLite, or what DATABASE_URL says."""

import atexit
import os
import shutil
import tempfile

if "EVENKEEL_TEST_HOME" not in os.environ:
    os.environ["EVENKEEL_TEST_HOME"] = tempfile.mkdtemp(prefix="evenkeel-test-")
    atexit.register(shutil.rmtree, os.environ["EVENKEEL_TEST_HOME"], ignore_errors=True)
os.environ["EVENKEEL_HOME"] = os.environ["EVENKEEL_TEST_HOME"]

from dashboard.config.settings import *  # noqa: F403 - the home must be known first

if not os.environ.get("DATABASE_URL"):
    # a file, as in production: an in-memory database that threads share does not wait for locks
    DATABASES["default"]["TEST"] = {"NAME": str(HOME / "test.sqlite3")}  # noqa: F405 - of the settings
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
(HOME / "static").mkdir(exist_ok=True)  # noqa: F405 - of the settings; WhiteNoise warns where it is missing
CELERY_BROKER_URL = "memory://"  # tests that want a worker start one, on a Redis
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True  # browser tests get static files as they stand in the project
