"""The ASGI door: pages over HTTP. The web socket joins it with the live room."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")

application = ProtocolTypeRouter({"http": get_asgi_application()})
