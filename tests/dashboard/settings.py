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

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
