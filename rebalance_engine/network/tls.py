"""TLS: what is trusted, and who we are.

RocketMQ uses plain TLS from the first byte on, without STARTTLS. Java clients trust any server unless told otherwise
(``tls.client.authServer=false``); ours verify unless told otherwise.

Source: ``remoting/.../netty/TlsHelper.java``, ``TlsSystemConfig.java``, ``common/TlsMode.java``.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

HANDSHAKE_RECORD = 0x16  # ``NettyRemotingServer.HANDSHAKE_MAGIC_CODE``; no frame of less than 352 MiB begins with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """How we call.

    Attributes:
        verify: whether the server must prove who it is. Without, anybody on the way can read and change everything.
        check_host: whether it must be the host that was called; RocketMQ's certificates often name no host.
        ca: who is trusted (PEM); None: whom the operating system trusts.
        certificate, key: who we are (PEM), if the server asks; ``password`` opens the key.
    """

    verify: bool = True
    check_host: bool = True
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    password: str | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext:
        """Read the files.

        Raises:
            OSError: one cannot be read, or is not what it should be (``ssl.SSLError``); it is named.
        """
        with _reading(self.ca):
            context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=self.ca)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif not self.check_host:
            context.check_hostname = False
        if self.certificate is not None:
            with _reading(self.certificate, self.key):
                context.load_cert_chain(self.certificate, self.key, self.password)
        return context


class TlsMode(Enum):
    """What a listener accepts; ``tls.server.mode``."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTls:
    """How we are called.

    Attributes:
        certificate, key: who we are (PEM); ``password`` opens the key.
        mode: DISABLED refuses TLS, PERMISSIVE takes both on one port, ENFORCING refuses what is plain.
        client_ca: who must have signed the client's certificate (PEM); None: no client needs one.
    """

    certificate: Path
    key: Path | None = None
    password: str | None = field(default=None, repr=False)
    mode: TlsMode = TlsMode.PERMISSIVE
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Read the files.

        Raises:
            OSError: one cannot be read, or is not what it should be (``ssl.SSLError``); it is named.
        """
        with _reading(self.client_ca):
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.client_ca)
        with _reading(self.certificate, self.key):
            context.load_cert_chain(self.certificate, self.key, self.password)
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context


@contextmanager
def _reading(*files: Path | None) -> Iterator[None]:
    """Let what goes wrong name the files: OpenSSL does not."""
    given = [file for file in files if file is not None]
    for file in given:
        file.open("rb").close()
    try:
        yield
    except ssl.SSLError as error:
        raise ssl.SSLError(error.errno, f"{' with '.join(map(str, given))}: {error.strerror}") from error
