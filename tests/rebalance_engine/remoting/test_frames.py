import json

import pytest

from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.command import Command, HeaderForm
from rebalance_engine.remoting.errors import LocalProtocolError
from rebalance_engine.remoting.frames import MAX_HEADER, MAX_SENT, encode_frame
from tests.rebalance_engine.remoting.recordings import RELEASES, one_command, recorded

# remoting.md 1.6: the binary request and the response are what the Java classes write
VECTORS = {
    "JSON request": (
        (
            "0000006700000063"
            "7b22636f6465223a33382c226c616e6775616765223a22505954484f4e222c2276657273696f6e223a3434312c"
            "226f7061717565223a372c22666c6167223a302c226578744669656c6473223a7b22636f6e73756d657247726f"
            "7570223a2247227d7d"
        ),
        Command(code=38, opaque=7, ext_fields={"consumerGroup": "G"}),
    ),
    "binary request": (
        "0000002d01000029002603019100000007000000000000000000000014000d636f6e73756d657247726f75700000000147",
        Command(code=38, opaque=7, version=401, ext_fields={"consumerGroup": "G"}, header_form=HeaderForm.ROCKETMQ),
    ),
    "JSON response": (
        (
            "0000007f0000005f"
            "7b22636f6465223a302c22666c6167223a312c226c616e6775616765223a224a415641222c226f706171756522"
            "3a372c2273657269616c697a655479706543757272656e74525043223a224a534f4e222c2276657273696f6e22"
            "3a3437397d7b22636f6e73756d657249644c697374223a5b2261222c2262225d7d"
        ),
        Command(
            code=0,
            opaque=7,
            flag=1,
            language=Language.JAVA,
            version=479,
            ext_fields=None,
            body=b'{"consumerIdList":["a","b"]}',
        ),
    ),
    "binary response": (
        "000000350100001500000001df000000070000000100000000000000007b22636f6e73756d657249644c697374223a5b2261222c2262225d7d",
        Command(
            code=0,
            opaque=7,
            flag=1,
            language=Language.JAVA,
            version=479,
            ext_fields=None,
            body=b'{"consumerIdList":["a","b"]}',
            header_form=HeaderForm.ROCKETMQ,
        ),
    ),
    "notification": (
        (
            "00000089000000857b22636f6465223a34302c226578744669656c6473223a7b22636f6e73756d657247726f75"
            "70223a2247227d2c22666c6167223a322c226c616e6775616765223a224a415641222c226f7061717565223a31"
            "3230312c2273657269616c697a655479706543757272656e74525043223a224a534f4e222c2276657273696f6e"
            "223a3437397d"
        ),
        Command(
            code=40,
            opaque=1201,
            flag=2,
            language=Language.JAVA,
            version=479,
            ext_fields={"consumerGroup": "G"},
        ),
    ),
}


@pytest.mark.parametrize(("frame", "command"), VECTORS.values(), ids=VECTORS)
def test_the_worked_examples_are_read_and_written(frame: str, command: Command) -> None:
    assert one_command(bytes.fromhex(frame)) == command
    assert encode_frame(command).hex() == frame


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_frame_of_java_is_written_as_it_was_read_to_the_byte(release: str) -> None:
    frames = [frame for frame in recorded(release) if frame.command.language is Language.JAVA]

    assert len(frames) > 500
    assert [frame for frame in frames if encode_frame(frame.command) != frame.frame] == []


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_frame_is_written_with_an_equal_header_and_the_same_body(release: str) -> None:
    for frame in recorded(release):
        written = encode_frame(frame.command)

        assert split(written) == split(frame.frame)


def split(frame: bytes) -> tuple[object, bytes]:
    end = 8 + int.from_bytes(frame[5:8], "big")
    return json.loads(frame[8:end]), frame[end:]


def test_a_frame_that_a_java_peer_would_not_take_is_our_mistake() -> None:
    fits = Command(code=310, opaque=7, body=bytes(MAX_SENT - 200))
    too_long = Command(code=310, opaque=7, body=bytes(MAX_SENT))

    assert len(encode_frame(fits)) < MAX_SENT
    with pytest.raises(LocalProtocolError, match="peers accept 16777216"):
        encode_frame(too_long)


def test_a_header_that_we_would_not_take_is_our_mistake() -> None:
    with pytest.raises(LocalProtocolError, match="1048576 is the most"):
        encode_frame(Command(code=1, opaque=7, remark="x" * MAX_HEADER))
