"""The folder in which everything that is kept lives, and the secrets that are made in it at the first start."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from dashboard.config.env import Environment

ROOT = Path(__file__).resolve().parents[2]


def find_home(env: Environment) -> Path:
    """Give ``EVENKEEL_HOME``, by default ``var/`` of this project; made where it is missing.

    Raises:
        ImproperlyConfigured: it cannot be made, or is no folder.
    """
    home = Path(env.get("EVENKEEL_HOME", "").strip() or ROOT / "var").expanduser().resolve()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"EVENKEEL_HOME is {home}; it needs a folder that can be written: {error}") from None
    return home


def keep_secret(home: Path, name: str) -> str:
    """Give a secret of this home, made once, readable by its owner alone.

    Several processes start at once: whoever links its file first has made the secret, and all read that one.
    """
    path = home / "secrets" / name
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_name(f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass  # another process was first
        finally:
            draft.unlink()
    return path.read_text()
