"""The roof: settings, addresses, the ASGI door and the Celery app."""
