"""A certificate for 127.0.0.1 that only the test trusts."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """Two files: what a server shows, and the key that only it has."""

    certificate: Path
    key: Path

    def server_options(self, mode: str) -> tuple[str, ...]:
        """Give what makes a Java server speak TLS: ``enforcing`` allows nothing else, ``permissive`` does."""
        return (
            f"-Dtls.server.mode={mode}",
            "-Dtls.test.mode.enable=false",
            f"-Dtls.server.certPath={self.certificate}",
            f"-Dtls.server.keyPath={self.key}",
        )

    def client_options(self) -> tuple[str, ...]:
        """Give what makes a Java client trust this certificate and no other."""
        return (
            "-Dtls.enable=true",
            "-Dtls.test.mode.enable=false",
            "-Dtls.client.authServer=true",
            f"-Dtls.client.trustCertPath={self.certificate}",
        )

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


def make_certificate(folder: Path) -> Certificate:
    """Make one that is valid for a day, by openssl."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=evenkeel tests"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(made.key), "-out", str(made.certificate)]
    subprocess.run([*request, *names, *files], check=True, capture_output=True, timeout=60)
    return made
