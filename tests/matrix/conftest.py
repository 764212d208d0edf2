"""Clusters for the matrix: each is started once for all its tests, one at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import pytest

from rebalance_engine.remoting.acl import Credentials
from tests.cluster.certificates import make_certificate
from tests.cluster.contract import Cluster, Setup
from tests.cluster.embedded import running_embedded
from tests.cluster.rocketmq import ALL_RELEASES, RELEASES, running
from tests.matrix.cells import GROUPS
from tests.matrix.exchange import Exchanged, exchange
from tests.matrix.faults import Faulty, Scene
from tests.matrix.groups import LOCK_EXPIRES_S, Play, Stage

EMBEDDED = "embedded"
SECURED = "-secured"
KEYS = Credentials(access_key="evenkeel", secret_key="only-for-tests")  # noqa: S106  # it opens nothing else
CLUSTERS = (*(ALL_RELEASES if os.environ.get("EVENKEEL_TEST_ALL") else RELEASES), EMBEDDED)
_broken: dict[str, str] = {}  # why a cluster is not asked for again: each try takes minutes


@pytest.hookimpl(trylast=True)  # after pytest, which would start some cluster twice
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together what runs on one cluster."""
    places = [place for place, item in enumerate(items) if _cluster_of(item)]
    grouped = sorted((items[place] for place in places), key=_cluster_of)
    for place, item in zip(places, grouped, strict=True):
        items[place] = item


def _cluster_of(item: pytest.Item) -> str:
    """Name the cluster that a test runs on; "": it needs none, or is of another folder."""
    if Path(__file__).parent not in item.path.parents or not isinstance(item, pytest.Function):
        return ""
    return str(item.callspec.params.get("cluster", "")) if hasattr(item, "callspec") else ""


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start the cluster that a test names: a release, or ``embedded``. What it logged stays if a test fails."""
    name, failed = request.param, request.session.testsfailed
    if name in _broken:
        pytest.fail(_broken[name])
    _broken[name] = f"the cluster {name} did not start for an earlier test"
    with start(name, tmp_path_factory.mktemp(name)) as started:
        del _broken[name]
        yield started
        if request.session.testsfailed > failed:
            (started.folder / "keep").touch()


def start(name: str, folder: Path) -> AbstractContextManager[Cluster]:
    """Start the cluster of a name: two brokers that let in everybody, or one that is secured.

    Its certificate lies in the folder, which is its alone: of one that all share, another worker would change the
    file under a cluster that runs.
    """
    kind, _, secured = name.partition(SECURED[0])
    release = RELEASES[0] if kind == EMBEDDED else kind
    setup = Setup(release=release, lock_expires_s=LOCK_EXPIRES_S)
    if secured:
        # 5.5.0 takes nothing but TLS, others take plain connections beside it
        mode = "enforcing" if kind == RELEASES[0] else "permissive"
        certificate = make_certificate(folder)
        setup = Setup(release=release, brokers=("broker-a",), acl=KEYS, tls=certificate, tls_mode=mode)
    return running_embedded(setup) if kind == EMBEDDED else running(setup)


@pytest.fixture(scope="session")
def play(cluster: Cluster) -> Play:
    """Play the life of all groups of this cluster."""
    return once(f"groups on {cluster.name}", Stage(cluster, GROUPS[cluster.name], cluster.folder / "groups").run)


@pytest.fixture(scope="session")
def exchanged(cluster: Cluster) -> Exchanged:
    """Let Java and Python write to each other."""
    return once(f"exchange on {cluster.name}", lambda: exchange(cluster, cluster.folder / "exchange"))


@pytest.fixture(scope="session")
def faulty(cluster: Cluster) -> Faulty:
    """Let a broker crash and hang."""
    return once(f"faults on {cluster.name}", Scene(cluster, cluster.folder / "faults").run)


T = TypeVar("T")


def once(what: str, do: Callable[[], T]) -> T:
    """Do what takes long once, even if it fails."""
    if what in _broken:
        pytest.fail(_broken[what])
    _broken[what] = f"the {what} did not come to an end for an earlier test"
    done = do()
    del _broken[what]
    return done
