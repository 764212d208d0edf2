from pathlib import Path

import pytest
from django.test import override_settings

from dashboard.clusters.models import Cluster
from dashboard.config.supervising.preparing import (
    STAMP,
    Asked,
    clusters_to_watch,
    fingerprint,
    prepare_static_files,
    prepare_tables,
    put_cluster,
)
from tests.dashboard.story import T0

DEMO = Asked(name="demo", namesrv="127.0.0.1:15000", is_demo=True, is_read_only=False)
SHOP = Asked(name="shop", namesrv="10.0.0.1:9876", is_demo=False, is_read_only=True)


@pytest.mark.django_db
def test_tables_that_are_up_to_date_are_left_alone() -> None:
    said: list[str] = []

    prepare_tables(said.append)

    assert said == []


def test_static_files_are_collected_once(tmp_path: Path) -> None:
    said: list[str] = []
    with override_settings(STATIC_ROOT=tmp_path / "static"):
        for _ in range(2):
            prepare_static_files(tmp_path / "static", said.append)

        assert said == ["collecting static files"]
        assert (tmp_path / "static" / "admin").is_dir()

        (tmp_path / "static" / STAMP).write_text("made of something else")
        prepare_static_files(tmp_path / "static", said.append)
        assert len(said) == 2


def test_a_file_that_changed_changes_the_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "a.css"
    file.write_text("a {}")
    before = fingerprint([("a.css", file)])

    assert fingerprint([("a.css", file)]) == before
    file.write_text("a { color: red }")
    assert fingerprint([("a.css", file)]) != before


@pytest.mark.django_db
def test_a_cluster_is_added_once_and_found_again_at_its_new_address() -> None:
    put_cluster(DEMO, T0)
    put_cluster(Asked(name="demo", namesrv="127.0.0.1:16000", is_demo=True, is_read_only=False), T0 + 1)

    row = Cluster.objects.get()
    assert (row.namesrv, row.is_demo, row.is_read_only, row.added_at) == ("127.0.0.1:16000", True, False, T0)


@pytest.mark.django_db
def test_a_real_cluster_cannot_take_the_place_of_the_demo() -> None:
    put_cluster(DEMO, T0)

    with pytest.raises(ValueError, match="'demo' of this home is the demo; give the new one another name"):
        put_cluster(Asked(name="demo", namesrv="10.0.0.1:9876", is_demo=False, is_read_only=True), T0)


@pytest.mark.django_db
def test_the_demo_is_watched_only_where_it_runs() -> None:
    put_cluster(DEMO, T0)
    put_cluster(SHOP, T0)

    assert clusters_to_watch(has_demo=True) == {"demo": True, "shop": False}
    assert clusters_to_watch(has_demo=False) == {"shop": False}
