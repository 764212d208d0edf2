"""The ASGI door: pages over HTTP, streams over the web socket."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")

pages = get_asgi_application()  # sets Django up; what follows imports models

from dashboard.config.garbage import set_aside  # noqa: E402 - see above
from dashboard.live.routing import elsewhere, websocket_urlpatterns, with_straight_way  # noqa: E402 - see above

live = with_straight_way(AuthMiddlewareStack(URLRouter([*websocket_urlpatterns, elsewhere])))
application = ProtocolTypeRouter({"http": pages, "websocket": live})
set_aside()
