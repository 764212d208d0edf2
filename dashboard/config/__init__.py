"""The roof: settings, addresses, the ASGI door and the Celery app. Empty: who supervises loads none of them."""
