"""RocketMQ's remoting protocol: bytes to values and back, without I/O.

It knows frames, headers, the JSON dialect of bodies, stored messages and signatures. It does not know sockets, clocks,
or what anybody does about a request: ``network`` feeds it bytes, and the state machines deal in its values.

The way of one request, outwards; inwards it is walked backwards:

    a dataclass of ``requests`` -> ``codec.encode`` -> a ``Command`` -> ``Connection.send`` -> bytes
"""
