"""What is deleted of a cluster once it has been gone for long: producers, queues, routes, topics, brokers.

========================  ========================================  ==========================================
a row                     is there no more                          and stays as long as
========================  ========================================  ==========================================
``Producer``              since ``gone_at``
``ProducerBroker``        when its producer said nothing any more
``ProducerList``          when its broker is no more                a ``Producer`` of it is kept
``Queue``                 since ``gone_at``                         some row refers to it: who had it, who is to
``Topic``, its routes     since ``unused_since``                    a group consumes it, or a queue of it stays
``Broker``                since ``gone_at``                         anything here or above names it
========================  ========================================  ==========================================

It goes cluster by cluster and some rows at a time, each time with the cluster's lock, which whoever stores facts has:
so nothing is deleted that is just being referred to, and nobody waits for long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.db.models.functions import Coalesce, Greatest

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerBroker, ProducerList, Queue, Route, Topic

ROWS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Named:
    """How rooms above name rows of this one, where no foreign key does; each asks of a row whether it is named."""

    topic: Q
    broker: Q


def forget(*, old: int, now: int, named: Named) -> int:
    """Delete what was gone before ``old`` (ms since 1970) and is not referred to any more. Give how many rows."""
    return sum(_forget_in(cluster, old, now, named) for cluster in Cluster.objects.values_list("pk", flat=True))


def _forget_in(cluster: int, old: int, now: int, named: Named) -> int:
    _note_use(cluster, now, named)
    return sum(_delete(cluster, rows) for rows in _doomed(cluster, old, named))


def _doomed(cluster: int, old: int, named: Named) -> Iterator[QuerySet[models.Model]]:
    """Give what is to be deleted, in an order in which each makes way for the next."""
    yield Producer.objects.filter(cluster=cluster, gone_at__lt=old)
    yield ProducerBroker.objects.filter(cluster=cluster, observed_at__lt=old)
    lists = ProducerList.objects.annotate(told_at=Greatest("observed_at", Coalesce("missing_at", 0)))
    yield lists.filter(~_on_broker(Producer), ~_there(), cluster=cluster, told_at__lt=old)
    yield Queue.objects.filter(_unreferred(Queue), topic__cluster=cluster, gone_at__lt=old)
    yield from _doomed_topics(cluster, old, named)
    queues = Queue.objects.filter(topic__cluster=OuterRef("cluster"), broker=OuterRef("name"))
    kept = Exists(queues) | _on_broker(Producer, "name") | _on_broker(ProducerList, "name") | named.broker
    yield Broker.objects.filter(~kept, cluster=cluster, gone_at__lt=old)


def _doomed_topics(cluster: int, old: int, named: Named) -> Iterator[QuerySet[models.Model]]:
    """Routes go first: a route that is told again while the rest is on its way makes its queues anew."""
    referred = Queue.objects.exclude(_unreferred(Queue)).filter(topic=OuterRef("pk"))
    topics = Topic.objects.filter(~Exists(referred), ~named.topic, cluster=cluster, unused_since__lt=old)
    yield Route.objects.filter(topic__in=topics)
    yield Queue.objects.filter(topic__in=topics)
    yield topics


def _note_use(cluster: int, now: int, named: Named) -> None:
    """Store since when a topic is in use no more, and which are again."""
    topics = Topic.objects.filter(cluster=cluster)
    with transaction.atomic():
        _lock(cluster)
        topics.filter(~named.topic, unused_since=None).update(unused_since=now)
        topics.filter(named.topic, unused_since__isnull=False).update(unused_since=None)


def _delete(cluster: int, rows: QuerySet[models.Model]) -> int:
    """Delete rows, some at a time; which ones is asked with the lock that each time takes."""
    done, is_whole = 0, True
    while is_whole:
        with transaction.atomic():
            _lock(cluster)
            pks = list(rows.order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE])
            done += rows.model._default_manager.filter(pk__in=pks).delete()[0] if pks else 0
        is_whole = len(pks) == ROWS_AT_ONCE
    return done


def _lock(cluster: int) -> None:
    """Keep out whoever stores facts of the cluster, until the transaction ends."""
    Cluster.objects.select_for_update(no_key=True).filter(pk=cluster).first()


def _unreferred(model: type[models.Model]) -> Q:
    """Ask that no row of any room refers to a row by a foreign key, whether there is a name for the way back or not."""
    asked = Q()
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            referring = relation.related_model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
            asked &= Q(~Exists(referring))
    return asked


def _on_broker(model: type[models.Model], name: str = "broker") -> Exists:
    return Exists(model._default_manager.filter(cluster=OuterRef("cluster"), broker=OuterRef(name)))


def _there() -> Exists:
    return Exists(Broker.objects.filter(cluster=OuterRef("cluster"), name=OuterRef("broker"), gone_at=None))
