"""Messages as an application makes them, and what becomes of them on their way out: ids, properties, compression.

Sources: ``common/.../message/Message.java``, ``MessageBatch.java``, ``common/.../topic/TopicValidator.java``;
``client/.../Validators.java``, ``client/.../impl/producer/DefaultMQProducerImpl.java`` (``sendKernelImpl``,
``tryToCompressMessage``).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.network.identity import MessageIds
from rebalance_engine.network.rules import as_int
from rebalance_engine.remoting.batches import Packed, encode_batch
from rebalance_engine.remoting.compression import compress
from rebalance_engine.remoting.errors import LocalProtocolError
from rebalance_engine.remoting.properties import (
    DELAY,
    KEYS,
    SHARDING_KEY,
    TAGS,
    UNIQ_KEY,
    encode_properties,
)
from rebalance_engine.remoting.sysflags import Compression, with_compression

if TYPE_CHECKING:
    from rebalance_engine import producer

WAIT = "WAIT"  # ``PROPERTY_WAIT_STORE_MSG_OK``: wait until as many copies are safe as the broker is told to want
MAX_TOPIC = 127
MAX_GROUP = 255
COMPRESS_FROM = 4_096  # bytes; ``compressMsgBodyOverHowmuch``
MAX_SIZE = 4 * 2**20  # bytes; ``maxMessageSize``
RESERVED = frozenset({KEYS, TAGS, WAIT, DELAY, UNIQ_KEY, SHARDING_KEY})

_TOPIC = re.compile(r"[%|a-zA-Z0-9_-]+")


class BadMessage(ValueError):
    """No broker would take the message; the text says what was seen and what is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an application sends.

    Attributes:
        tags: what consumers may filter by.
        keys: what it can be looked up by; one text, or several.
        properties: the application's own; SQL filters see them.
        sharding_key: messages of one key go to one queue, for as long as the number of queues stays.
        delay_level: deliver later, by a level of the broker's ``messageDelayLevel``; 0: at once.
        flag: the application's own number.
        waits_for_store: wait until as many copies are safe as the broker is configured to want.
    """

    topic: str
    body: bytes
    tags: str | None = None
    keys: str | Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    sharding_key: str | None = None
    delay_level: int = 0
    flag: int = 0
    waits_for_store: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """How messages leave: what is compressed, with what, and what is too large.

    Attributes:
        compress_from: bodies from this size on are compressed; None: none is.
    """

    compression: Compression = Compression.ZLIB
    compress_from: int | None = COMPRESS_FROM
    max_size: int = MAX_SIZE


@dataclass(frozen=True, slots=True)
class Parcel:
    """A message ready to go, and the id that it has, or the ids of a batch."""

    message: producer.Message
    message_ids: tuple[str, ...]


def pack(message: Message, message_id: str, packing: Packing) -> Parcel:
    """Make one message ready.

    Raises:
        BadMessage: topic, body or a property cannot be sent.
    """
    message = _checked(message, packing)
    body, sys_flag = message.body, 0
    if packing.compress_from is not None and len(body) >= packing.compress_from:
        smaller = compress(packing.compression, body)
        if len(smaller) < len(body):  # Java sends it larger, and brokers refuse what is over their limit then
            body, sys_flag = smaller, with_compression(0, packing.compression)
    properties = _encoded(message, message_id)
    ready = _ready(topic=message.topic, body=body, properties=properties, sys_flag=sys_flag, flag=message.flag)
    return Parcel(ready, (message_id,))


def pack_batch(messages: Sequence[Message], ids: MessageIds, at: int, packing: Packing) -> Parcel:
    """Make several messages ready to be stored by one request, in one queue, one after the other.

    Raises:
        BadMessage: there is none, they differ in topic or in whether they wait for the store, one is delayed or goes to
            a retry topic, or they are too large together.
    """
    messages = [_checked(message, packing) for message in messages]
    _check_together(messages)
    message_ids = tuple(ids.next(at) for _ in messages)
    body = encode_batch(
        Packed(body=message.body, flag=message.flag, property_text=_encoded(message, message_id))
        for message, message_id in zip(messages, message_ids, strict=True)
    )
    if len(body) > packing.max_size:
        raise BadMessage(f"the batch has {len(body)} bytes; at most {packing.max_size} are sent")
    first = messages[0]
    properties = encode_properties({WAIT: _flag(first.waits_for_store)})
    ready = _ready(topic=first.topic, body=body, properties=properties, is_batch=True)
    return Parcel(ready, message_ids)


def _ready(
    *, topic: str, body: bytes, properties: str, sys_flag: int = 0, flag: int = 0, is_batch: bool = False
) -> producer.Message:
    from rebalance_engine import producer  # noqa: PLC0415  # consumers know only the names of this room

    return producer.Message(
        topic=topic, body=body, properties=properties, sys_flag=sys_flag, flag=flag, is_batch=is_batch
    )


def _encoded(message: Message, message_id: str) -> str:
    properties = _properties(message, message_id)
    try:
        text = encode_properties(properties)
        if not text.isascii():
            text.encode()
    except LocalProtocolError as error:
        raise BadMessage(str(error)) from error
    except UnicodeEncodeError as error:
        odd = error.object[error.start]
        name = next(name for name, value in properties.items() if odd in name + value)
        raise BadMessage(f"property {name!r} holds {odd!r}, half of a character; needed are whole ones") from error
    return text


def _properties(message: Message, message_id: str) -> dict[str, str]:
    properties = {**message.properties, WAIT: _flag(message.waits_for_store), UNIQ_KEY: message_id}
    keys = message.keys if isinstance(message.keys, str) else " ".join(message.keys)
    if keys:
        properties[KEYS] = keys
    if message.tags:
        properties[TAGS] = message.tags
    if message.sharding_key:
        properties[SHARDING_KEY] = message.sharding_key
    if message.delay_level:
        properties[DELAY] = str(message.delay_level)
    return properties


def _flag(is_set: bool) -> str:
    return "true" if is_set else "false"


# ---- what no broker would take ----


def _checked(message: Message, packing: Packing) -> Message:
    """Give the message, its numbers as Python's own."""
    for name, value, is_so, needed in _kinds(message):
        if not is_so:
            raise BadMessage(f"{name} is {repr(value)[:80]}; needed is {needed}")
    check_topic(message.topic)
    if not message.body:
        raise BadMessage(f"the message to {message.topic!r} has an empty body; at least one byte is needed")
    if len(message.body) > packing.max_size:
        raise BadMessage(f"the body has {len(message.body)} bytes; at most {packing.max_size} are sent")
    if message.delay_level < 0:
        raise BadMessage(f"the delay level is {message.delay_level}; needed is 0 or more")
    reserved = RESERVED & message.properties.keys()
    if reserved:
        raise BadMessage(f"properties hold {sorted(reserved)}, which RocketMQ keeps for itself; use the fields for it")
    if type(message.delay_level) is type(message.flag) is int:
        return message
    return replace(message, delay_level=operator.index(message.delay_level), flag=operator.index(message.flag))


def _kinds(message: Message) -> Iterator[tuple[str, object, bool, str]]:
    """Give each field, what it is, whether that may be, and what is needed; who does not check types learns it here."""
    yield "the message", message, isinstance(message, Message), "a Message"
    yield "the topic", message.topic, isinstance(message.topic, str), "a text"
    yield "the body", message.body, isinstance(message.body, bytes), "bytes, such as text.encode()"
    for name, value in (("tags", message.tags), ("the sharding key", message.sharding_key)):
        yield name, value, value is None or isinstance(value, str), "a text, or None"
    keys: object = message.keys
    are_keys = isinstance(keys, str) or (isinstance(keys, Sequence) and all(isinstance(key, str) for key in keys))
    yield "keys", keys, are_keys, "a text, or several"
    properties = message.properties
    yield "properties", properties, isinstance(properties, Mapping), "name -> value"
    for word, text in properties.items():
        are_texts = all(isinstance(one, str) for one in (word, text))
        yield f"property {word!r}", text, are_texts, "a text, as its name is"
        yield "the name of a property", word, word != "", "one character at least"
    for name, number in (("the delay level", message.delay_level), ("the flag", message.flag)):
        plain = as_int(number)
        yield name, number, plain is not None and -(2**31) <= plain < 2**31, "a whole number of 32 bits"
    yield "waits_for_store", message.waits_for_store, isinstance(message.waits_for_store, bool), "True or False"


def check_topic(topic: str) -> None:
    """Insist on a name that a topic may have.

    Raises:
        TypeError: it is no text.
        BadMessage: it has none.
    """
    _check_text("the topic", topic)
    if not _TOPIC.fullmatch(topic) or len(topic) > MAX_TOPIC:
        raise BadMessage(f"the topic is {topic[:200]!r}; needed are 1 to {MAX_TOPIC} of a-z A-Z 0-9 _ - % |")


def check_group(group: str) -> None:
    """Insist on a name that a group may have (``Validators.checkGroup``).

    Raises:
        TypeError: it is no text.
        ValueError: it has none.
    """
    _check_text("the group", group)
    if not _TOPIC.fullmatch(group) or len(group) > MAX_GROUP:
        raise ValueError(f"the group is {group[:300]!r}; needed are 1 to {MAX_GROUP} of a-z A-Z 0-9 _ - % |")


def _check_text(what: str, seen: object) -> None:
    if not isinstance(seen, str):
        raise TypeError(f"{what} is {repr(seen)[:80]}; needed is a text")


def _check_together(messages: Sequence[Message]) -> None:
    if not messages:
        raise BadMessage("the batch is empty; at least one message is needed")
    kinds = {(message.topic, message.waits_for_store) for message in messages}
    if len(kinds) > 1:
        raise BadMessage(f"the batch has messages to {sorted({topic for topic, _ in kinds})}; needed are equal ones")
    if any(message.delay_level for message in messages):
        raise BadMessage("the batch has a delayed message; those are sent one by one")
    if messages[0].topic.startswith(RETRY_TOPIC_PREFIX):
        raise BadMessage(f"the batch goes to {messages[0].topic!r}; retried messages are sent one by one")
