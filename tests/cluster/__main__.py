"""A real cluster by hand.

``python -m tests.cluster fetch [RELEASE...]`` gets the released classes; ``up [RELEASE]`` starts a NameServer and two
brokers, prints the NameServer's address, and ends them on Ctrl-C.
"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import suppress

from tests.cluster.contract import Setup
from tests.cluster.rocketmq import ALL_RELEASES, RELEASES, running
from tests.peers import maven


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("do", choices=("fetch", "up"))
    parser.add_argument("releases", nargs="*", default=[], metavar="RELEASE")
    asked = parser.parse_args()
    try:
        if asked.do == "fetch":
            fetch(asked.releases or ALL_RELEASES)
        else:
            up((asked.releases or RELEASES)[0])
    except maven.Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


def fetch(releases: tuple[str, ...]) -> None:
    for release in releases:
        for project in ("servers", "clients"):
            maven.program(project, release)
        print(f"RocketMQ {release} is here", flush=True)


def up(release: str) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else it would end us, and leave the servers behind
    with suppress(KeyboardInterrupt), running(Setup(release=release)) as cluster:
        print(cluster.namesrv, flush=True)
        while True:
            signal.pause()


if __name__ == "__main__":
    sys.exit(main())
