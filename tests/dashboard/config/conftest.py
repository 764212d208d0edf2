"""What several tests of processes need."""

import pytest
from pytest_django import Settings
from redis import Redis


@pytest.fixture
def redis_of_the_settings(redis: Redis, redis_server: str, settings: Settings) -> Redis:
    """Let processes find the test's own Redis by the settings."""
    settings.REDIS_URL = redis_server
    return redis
