"""Who comes through a proxy: a client of gRPC, which a broker with a proxy in it lists as a member.

No such client is asked what it holds (``GrpcClientChannel.processGetConsumerRunningInfo`` gives nothing unless a stack
trace is wanted), and it owns no queues: the proxy takes messages for it.
"""

from __future__ import annotations

import re

# Clients of gRPC name themselves host@pid@index@time, the time in base 36 (``ClientId.java`` of rocketmq-clients, the
# same in Go, Python and Node.js); those of remoting host@instance, with a unit at most (``ClientConfig.java``).
_OF_GRPC = re.compile(r".+@[0-9]+@[0-9]+@[0-9a-z]{6,13}")


def is_of_grpc(client: str) -> bool:
    """Ask whether a client id has the form that gRPC clients give themselves."""
    return _OF_GRPC.fullmatch(client) is not None
