"""One request to a server, on a connection of its own: independent of the network code that the tests are about."""

from __future__ import annotations

import socket
import ssl
from typing import TypeVar

from rebalance_engine.remoting.acl import Credentials, sign
from rebalance_engine.remoting.codec import decode_response, encode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection, Ended
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

R = TypeVar("R", bound=Response)
ANSWERED_WITHIN_S = 15
OPAQUE = 1  # the only request of its connection


class Refusal(Exception):
    """A server refused a request that a test rests on."""


def ask(
    address: str, request: Request[R], credentials: Credentials | None = None, tls: ssl.SSLContext | None = None
) -> R:
    """Ask, and give the answer.

    Raises:
        Refusal: the server did not do it.
        OSError: there is no server, or it ended the connection.
    """
    command = encode(request, opaque=OPAQUE)
    connection = Connection()
    connection.send(sign(command, credentials) if credentials else command)
    host, _, port = address.rpartition(":")
    plain = socket.create_connection((host, int(port)), timeout=ANSWERED_WITHIN_S)
    with tls.wrap_socket(plain, server_hostname=host) if tls else plain as wire:
        wire.sendall(b"".join(connection.data_to_send()))
        answer = decode_response(type(request), _answer(wire, connection))
    if isinstance(answer, Refused):
        raise Refusal(f"{address} answers {answer.code} ({answer.remark}) to {request}")
    return answer


def _answer(wire: socket.socket, connection: Connection) -> Command:
    while received := wire.recv(65536):
        connection.receive_data(received)
        for event in connection.events_received():
            if isinstance(event, Ended):
                raise ConnectionError(f"what came makes no sense: {event.error}")
            if event.is_response and event.opaque == OPAQUE:
                return event
    raise ConnectionError("the server closed the connection instead of answering")
