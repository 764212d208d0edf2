"""The folder in which everything that is kept lives, and the secrets that are made in it at the first start."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from dashboard.config.env import Environment

ROOT = Path(__file__).resolve().parents[2]


def find_home(env: Environment) -> Path:
    """Give ``EVENKEEL_HOME``, by default ``var/`` of this project; made where it is missing.

    Raises:
        ImproperlyConfigured: it cannot be made, is no folder, or cannot be written.
    """
    home = Path(env.get("EVENKEEL_HOME", "").strip() or ROOT / "var").expanduser().resolve()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(home, error) from None
    if not os.access(home, os.W_OK | os.X_OK):
        raise unusable(home, PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(home)))
    return home


def unusable(home: Path, error: OSError) -> ImproperlyConfigured:
    """Say of a home that something in it cannot be made, read or written."""
    where = f" ({error.filename})" if error.filename not in {None, str(home), home} else ""
    return ImproperlyConfigured(
        f"EVENKEEL_HOME is {home}; it needs a folder that can be written: {error.strerror or error}{where}"
    )


def keep_secret(home: Path, name: str) -> str:
    """Give a secret of this home, made once, readable by its owner alone.

    Several processes start at once: whoever links its file first has made the secret, and all read that one.

    Raises:
        ImproperlyConfigured: it cannot be made, or read.
    """
    try:
        return _kept(home / "secrets" / name)
    except OSError as error:
        raise unusable(home, error) from None


def name_of(secret: str, database: str) -> str:
    """Name an installation: all its processes give the same, and another one gives something else.

    A copy has another database, however its secret came along; databases of one name are of servers with secrets of
    their own.
    """
    return hashlib.blake2b(os.fsencode(database), key=secret.encode()[:64], digest_size=6).hexdigest()


def _kept(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass  # another process was first
        finally:
            draft.unlink()
    return path.read_text()
