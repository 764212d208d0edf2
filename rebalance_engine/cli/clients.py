"""What the commands that run a client have in common: where the cluster is, who we are, and how a run ends."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rebalance_engine.cli import BadArguments, signals
from rebalance_engine.network import complaints
from rebalance_engine.network.rewriting import split_addresses
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials

T = TypeVar("T")
ACCESS_KEY = "ROCKETMQ_ACCESS_KEY"
SECRET_KEY = "ROCKETMQ_SECRET_KEY"  # noqa: S105  # the name of a variable


class _Cluster(argparse.Action):
    """Takes the name servers of one cluster, and of further ones where a command asks several."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,  # noqa: ARG002  # argparse wants it
    ) -> None:
        first = getattr(namespace, self.dest)
        if first is None:
            setattr(namespace, self.dest, values)
        elif isinstance(namespace.also, list):
            namespace.also = [*namespace.also, values]
        else:
            parser.error(f"--namesrv is {first!r} and {values!r}; needed is one cluster: HOST:PORT;HOST:PORT")


def add_cluster_arguments(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """State how a cluster is reached. Secrets come by environment: arguments are seen by everybody on the machine.

    Args:
        several: take further clusters too, into ``also``.
    """
    words = "name servers of a cluster: HOST:PORT;HOST:PORT" + ("; again for one more cluster" if several else "")
    parser.add_argument("--namesrv", required=True, action=_Cluster, metavar="A", help=words)
    parser.set_defaults(also=[] if several else None)
    parser.add_argument("--access-key", metavar="KEY", help=f"ACL; else ${ACCESS_KEY}. The secret is ${SECRET_KEY}")
    parser.add_argument("--tls", action="store_true", help="connect with TLS")
    parser.add_argument("--tls-ca", type=Path, metavar="FILE", help="whom to trust (PEM); else whom the system does")
    parser.add_argument("--tls-trust-anybody", action="store_true", help="do not check who answers")
    parser.add_argument(
        "--rewrite",
        action="append",
        default=[],
        metavar="FROM=TO",
        help="call TO instead of FROM, a host or host:port, wherever it stands: in what brokers say and in --namesrv",
    )


def network_of(asked: argparse.Namespace) -> NetworkSettings:
    """Read how a cluster is reached.

    Raises:
        BadArguments: something does not make sense.
    """
    name_servers_of(asked)
    rules = [str(rule).partition("=") for rule in asked.rewrite]
    wrong = [rule for rule, equals, to in rules if not (rule and equals and to)]
    if wrong:
        raise BadArguments(f"--rewrite is {wrong[0]!r}; needed is FROM=TO, each a host or host:port")
    return NetworkSettings(acl=_acl(asked), tls=_tls(asked), rewrite={rule: to for rule, _, to in rules})


def name_servers_of(asked: argparse.Namespace) -> tuple[str, ...]:
    """Read where the name servers are.

    Raises:
        BadArguments: that is no address.
    """
    try:
        return split_addresses(asked.namesrv)
    except ValueError as error:
        raise BadArguments(str(error)) from error


def _tls(asked: argparse.Namespace) -> Tls | None:
    if not (asked.tls or asked.tls_ca or asked.tls_trust_anybody):
        return None
    tls = Tls(ca=asked.tls_ca, verify=not asked.tls_trust_anybody, check_host=not asked.tls_trust_anybody)
    try:
        tls.context()
    except OSError as error:  # ssl.SSLError is one
        what = "--tls-ca" if asked.tls_ca else "whom the system trusts"
        raise BadArguments(f"{what} cannot be read: {error}") from error
    return tls


def _acl(asked: argparse.Namespace) -> Credentials | None:
    access_key = asked.access_key or os.environ.get(ACCESS_KEY)
    if not access_key:
        return None
    secret_key = os.environ.get(SECRET_KEY)
    if not secret_key:
        raise BadArguments(f"there is an access key and no secret; needed is the environment variable {SECRET_KEY}")
    return Credentials(access_key=access_key, secret_key=secret_key)


def log_troubles() -> None:
    """Write warnings to standard error, and that what was wrong is well again."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger(complaints.__name__).setLevel(logging.INFO)


def run_until_told(main: Callable[[asyncio.Event], Coroutine[None, None, T]]) -> T:
    """Run a command's coroutine; SIGTERM and SIGINT set its event, also if they came before, and it ends in order."""

    async def run(ear: signals.Ear) -> T:
        stop = asyncio.Event()
        with _woken_by_signals(stop.set):
            if ear.heard is not None:
                stop.set()
            return await main(stop)

    with signals.listening() as ear:
        return asyncio.run(run(ear))


@contextmanager
def _woken_by_signals(tell: Callable[[], None]) -> Iterator[None]:
    """Call back in the running loop when a signal comes, and leave its handler as it is.

    ``loop.add_signal_handler`` would put the default handler in its place in the end, and the next signal would kill.
    """
    loop = asyncio.get_running_loop()
    reading, writing = socket.socketpair()
    with reading, writing:
        reading.setblocking(False)
        writing.setblocking(False)

        def read() -> None:
            reading.recv(4_096)
            tell()

        loop.add_reader(reading, read)
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reading)
