from __future__ import annotations

from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from rebalance_engine.events import SendOutcome
from tests.dashboard.api.conftest import Get
from tests.dashboard.producers.conftest import Teller, both, stock
from tests.dashboard.story import told


def test_what_a_producer_would_choose_comes_with_the_reasons(get: Get, cluster: Cluster) -> None:
    Cluster.objects.update(watched_at=now_ms())
    p = Teller(now_ms() - 2_000)
    told(both(), p.sent(0, 6), p.sent(10, 7, "west"), p.backs_off(100, 600_000))

    answer = get("/producers/picks", client="P")

    assert (answer["cluster"], answer["avoids_faults"], answer["unknown"]) == (cluster.name, True, {})
    assert answer["picks"] == [
        {
            "topic": "orders",
            "queues": 4,
            "shares": {"west": 4},
            "why": ["next in turn on a broker that does not back off"],
            "passed_over": {"east": "its broker backs off"},
        }
    ]


def test_who_avoids_no_slow_broker_is_not_said_to_pass_one_over(get: Get, cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(watched_at=now_ms())
    p = Teller(now_ms() - 40_000)
    failed = [p.sent(at, 20, outcome=SendOutcome.REMOTING_ERROR) for at in (0, 10)]
    told(both(), *failed, p.sent(30_000, 6))

    answer = get("/producers/picks", client="P")

    [orders] = answer["picks"]
    assert (answer["avoids_faults"], orders["shares"]) == (False, {"east": 2, "west": 2})
    assert (orders["why"], orders["passed_over"]) == (["next in turn"], {})


def test_what_a_stock_producer_would_choose_is_unknown_with_the_reason(
    get: Get, client: Client, cluster: Cluster
) -> None:
    stock(cluster, "S")

    answer = get("/producers/picks", client="S")

    assert (answer["picks"], answer["avoids_faults"]) == (None, None)
    assert answer["unknown"]["picks"].startswith("the producer reports nothing")
    assert "suppose that it does" in answer["unknown"]["avoids_faults"]
    nobody = client.get("/api/v1/producers/picks", {"client": "nobody"})
    assert (nobody.status_code, nobody.json()["problem"]) == (404, "no producer 'nobody' is known that you may see")
