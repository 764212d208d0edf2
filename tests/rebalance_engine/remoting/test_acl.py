from dataclasses import replace

import pytest

from rebalance_engine.remoting.acl import Credentials, is_signed, masked, sign
from rebalance_engine.remoting.command import Command

RIGHT, WRONG, TICKET = "12345678", "87654321", "ticket"
KEYS = Credentials(access_key="rocketmq2", secret_key=RIGHT)


@pytest.mark.parametrize(
    ("command", "signature"),
    [  # remoting.md 2: what AclClientRPCHook computes
        (Command(code=38, opaque=7, ext_fields={"consumerGroup": "G"}), "6Qhr/EQ1ay/USvic76JD//g6sHg="),
        (Command(code=34, opaque=7, body=b'{"clientID":"c1"}'), "QR9hAD56dIUZLomQ+TNsim3F/8M="),
        (Command(code=34, opaque=7, ext_fields=None, body=b'{"clientID":"c1"}'), "QR9hAD56dIUZLomQ+TNsim3F/8M="),
    ],
)
def test_a_command_is_signed_as_java_signs_it(command: Command, signature: str) -> None:
    signed = sign(command, KEYS)

    assert signed.ext_fields == {**(command.ext_fields or {}), "AccessKey": "rocketmq2", "Signature": signature}
    assert is_signed(signed, RIGHT)


def test_code_number_and_language_are_not_signed() -> None:
    signed = sign(Command(code=38, opaque=7), KEYS)

    assert is_signed(replace(signed, code=39, opaque=8, version=500), RIGHT)


@pytest.mark.parametrize(
    "changed",
    [
        {"body": b"x"},
        {"ext_fields": {"consumerGroup": "H", "AccessKey": "rocketmq2", "Signature": "6Qhr/EQ1ay/USvic76JD//g6sHg="}},
        {"ext_fields": {"consumerGroup": "G", "AccessKey": "rocketmq2"}},
        {"ext_fields": None},
    ],
)
def test_a_change_shows(changed: dict) -> None:
    signed = sign(Command(code=38, opaque=7, ext_fields={"consumerGroup": "G"}), KEYS)

    assert is_signed(signed, RIGHT)
    assert not is_signed(signed, WRONG)
    assert not is_signed(replace(signed, **changed), RIGHT)


def test_signing_again_replaces_the_signature() -> None:
    command = Command(code=38, opaque=7, ext_fields={"consumerGroup": "G"})
    other = Credentials(access_key="other", secret_key=WRONG, security_token=TICKET)

    assert sign(sign(command, other), KEYS) == sign(command, KEYS)


def test_a_security_token_is_signed_too() -> None:
    signed = sign(Command(code=38, opaque=7), replace(KEYS, security_token=TICKET))
    fields = signed.ext_fields or {}

    assert fields["SecurityToken"] == TICKET
    assert not is_signed(replace(signed, ext_fields={**fields, "SecurityToken": "other"}), RIGHT)


@pytest.mark.parametrize(("version", "is_left_out"), [(399, True), (400, False)])
def test_old_servers_leave_one_field_out(version: int, is_left_out: bool) -> None:
    command = Command(code=12, opaque=7, version=version, ext_fields={"_UNIQUE_KEY_QUERY": "true"})

    signed = sign(command, KEYS)
    plain = sign(replace(command, ext_fields={}), KEYS)

    assert ((signed.ext_fields or {})["Signature"] == (plain.ext_fields or {})["Signature"]) is is_left_out


def test_secrets_do_not_show() -> None:
    signed = sign(Command(code=38, opaque=7, ext_fields={"topic": "T"}), replace(KEYS, security_token=TICKET))

    assert masked(signed.ext_fields or {}) == {
        "topic": "T",
        "AccessKey": "***",
        "SecurityToken": "***",
        "Signature": "***",
    }
    assert RIGHT not in repr(KEYS)
