"""How clusters are reached: keys, TLS and rewritten addresses, out of the environment."""

from __future__ import annotations

import ssl
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from dashboard.config.env import Environment, read_bool, read_list
from rebalance_engine.network.rewriting import reachable
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials


def network_of(env: Environment) -> NetworkSettings:
    """Read how clusters are reached.

    ``ROCKETMQ_ACCESS_KEY`` and ``ROCKETMQ_SECRET_KEY``, ``EVENKEEL_TLS``, ``EVENKEEL_TLS_CA``,
    ``EVENKEEL_TLS_TRUST_ANYBODY``, ``EVENKEEL_REWRITE`` (``FROM=TO``, separated by commas).

    Raises:
        ImproperlyConfigured: one of them makes no sense, or names a file that cannot be read; it says which.
    """
    return NetworkSettings(acl=_acl(env), tls=_tls(env), rewrite=_rewrite(env))


def _acl(env: Environment) -> Credentials | None:
    access, secret = env.get("ROCKETMQ_ACCESS_KEY", ""), env.get("ROCKETMQ_SECRET_KEY", "")
    if bool(access) != bool(secret):
        seen, missing = ("ACCESS", "SECRET") if access else ("SECRET", "ACCESS")
        raise ImproperlyConfigured(
            f"ROCKETMQ_{seen}_KEY is set and ROCKETMQ_{missing}_KEY is empty; needed are both, or none"
        )
    return Credentials(access_key=access, secret_key=secret) if access else None


def _tls(env: Environment) -> Tls | None:
    trusts, ca = read_bool(env, "EVENKEEL_TLS_TRUST_ANYBODY", default=False), env.get("EVENKEEL_TLS_CA", "").strip()
    if not (read_bool(env, "EVENKEEL_TLS", default=False) or trusts or ca):
        return None
    tls = Tls(verify=not trusts, check_host=not trusts, ca=Path(ca) if ca else None)
    try:
        tls.context()
    except OSError as error:  # ssl.SSLError is one
        why = "there are no certificates in it" if isinstance(error, ssl.SSLError) else error.strerror
        name = f"EVENKEEL_TLS_CA is {ca!r}" if ca else "EVENKEEL_TLS is on, without EVENKEEL_TLS_CA"
        raise ImproperlyConfigured(f"{name}; it needs a PEM file of who signed the certificates: {why}") from None
    return tls


def _rewrite(env: Environment) -> dict[str, str]:
    rules = [tuple(map(str.strip, rule.partition("="))) for rule in read_list(env, "EVENKEEL_REWRITE")]
    for rule, equals, to in rules:
        if not (_is_place(rule) and _is_place(to)):
            raise ImproperlyConfigured(
                f"EVENKEEL_REWRITE has {rule + equals + to!r}; it needs FROM=TO, each a host or host:port"
            )
    return {rule: to for rule, _, to in rules}


def _is_place(text: str) -> bool:
    try:
        reachable("host:1", {"host": text})
    except ValueError:
        return False
    return "=" not in text
