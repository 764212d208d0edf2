"""A control room on a socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.rebalance_engine.cli.rooms import Room


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv("no_proxy", "*")
    room = Room()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            room.got.append((self.path, dict(self.headers.items()), body))
            self.send_response(room.status)
            for name, value in room.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(room.said)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        room.url = f"http://127.0.0.1:{server.server_port}/api/v1/reports"
        yield room
        server.shutdown()
        thread.join(10)
