from dashboard.clusters.models import Cluster, Command, CommandReceipt
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import assert_refused, assert_unique, store


def test_a_command_is_ordered_taken_and_finished_in_this_order(cluster: Cluster) -> None:
    columns = {
        "cluster": cluster,
        "verb": "recompute",
        "author_name": "ada",
        "ordered_at": T0,
        "deadline": T0 + 10_000,
        "taken_at": T0 + 1,
        "taken_epoch": 1,
        "finished_at": T0 + 2,
        "outcome": "done",
    }

    assert_refused(
        Command,
        columns,
        {"verb": ""},
        {"author_name": ""},
        {"deadline": T0 - 1},
        {"taken_at": T0 - 1},
        {"taken_at": T0 + 10_001},
        {"taken_epoch": None},
        {"taken_at": None},
        {"taken_at": None, "taken_epoch": None},
        {"taken_epoch": 0},
        {"outcome": None},
        {"finished_at": None},
        {"finished_at": T0 - 1},
        {"finished_at": T0},
        {"outcome": "perhaps"},
    )


def test_a_member_has_one_receipt(cluster: Cluster) -> None:
    order = {"cluster": cluster, "verb": "recompute", "author_name": "ada", "ordered_at": T0, "deadline": T0}
    columns = {"command": store(Command, **order), "client_id": "A", "answer": "changed", "at": T0}

    assert_refused(CommandReceipt, columns, {"answer": "fine"}, {"client_id": ""}, {"at": -1})
    assert_unique(CommandReceipt, columns, client_id="B")
