"""Signing: who sends a command, proved by a secret that does not travel.

The signature covers the values of all header fields, sorted by name, and the body; neither code nor number nor
language. So it is made last, when every field is final.

Sources: ``acl/.../common/AclClientRPCHook.java``, ``AclUtils.java`` (``combineRequestContent``), ``AclSigner.java``.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rebalance_engine.model import Order, java_utf8
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.command import Command

ACCESS_KEY = "AccessKey"
SECURITY_TOKEN = "SecurityToken"  # noqa: S105  # a field's name, not a token
SIGNATURE = "Signature"
SECRET_FIELDS = frozenset({ACCESS_KEY, SECURITY_TOKEN, SIGNATURE})

# What an ``AclException`` of 4.x has in its words, which come with the code of any other exception.
_OF_ACL = ("acl", "accesskey", "signature")

# A server that sees such a version leaves this field out too (``AclUtils``: ``V4_9_3``).
_UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"
_LAST_WITHOUT_UNIQUE_KEY_QUERY = 399


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Who somebody is at a cluster; the secrets stay out of any text that is made of it."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


def sign(command: Command, credentials: Credentials) -> Command:
    """Add the fields that prove who sends the command; those of an earlier signature are replaced."""
    fields = {name: value for name, value in (command.ext_fields or {}).items() if name not in SECRET_FIELDS}
    fields[ACCESS_KEY] = credentials.access_key
    if credentials.security_token:
        fields[SECURITY_TOKEN] = credentials.security_token
    unsigned = replace(command, ext_fields=fields)
    return replace(command, ext_fields={**fields, SIGNATURE: signature(unsigned, credentials.secret_key)})


def is_signed(command: Command, secret_key: str) -> bool:
    """Ask whether whoever sent the command has this secret."""
    claimed = (command.ext_fields or {}).get(SIGNATURE, "")
    return hmac.compare_digest(java_utf8(claimed), java_utf8(signature(command, secret_key)))


def signature(command: Command, secret_key: str) -> str:
    """Compute what belongs into the field ``Signature``."""
    fields = command.ext_fields or {}
    left_out = {SIGNATURE}
    if command.version <= _LAST_WITHOUT_UNIQUE_KEY_QUERY:
        left_out.add(_UNIQUE_KEY_QUERY)
    values = "".join(fields[name] for name in Order.JAVA.sort(fields.keys() - left_out))
    digest = hmac.digest(java_utf8(secret_key), java_utf8(values) + command.body, "sha1")
    return base64.b64encode(digest).decode()


def is_refused_by_acl(code: int, remark: str | None) -> bool:
    """Ask whether a refusal is about who asks: 5.3 and later say 16, earlier releases 1 with words of an AclException.

    >>> is_refused_by_acl(1, "org.apache.rocketmq.acl.common.AclException: No accessKey is configured for x")
    True
    """
    if code == ResponseCode.NO_PERMISSION:
        return True
    words = (remark or "").lower()
    return code == ResponseCode.SYSTEM_ERROR and any(word in words for word in _OF_ACL)


def masked(ext_fields: Mapping[str, str]) -> dict[str, str]:
    """Give header fields as a log may show them."""
    return {name: "***" if name in SECRET_FIELDS else value for name, value in ext_fields.items()}
