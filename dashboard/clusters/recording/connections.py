"""What brokers tell of the producers that they know: who is connected where, who is no more, who could not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.clusters.models import Cluster, Producer, ProducerList
from dashboard.common.fields import observed_at, printable, source_columns
from dashboard.common.names import known_as
from dashboard.common.rows import Rows
from rebalance_engine.events import AnswerMissed, BrokerGone, Fact, ProducerConnected, ProducersSeen
from rebalance_engine.remoting.bodies.routes import MASTER_ID
from rebalance_engine.remoting.codes import RequestCode

ASKS_FOR_PRODUCERS = str(int(RequestCode.GET_ALL_PRODUCER_INFO))
Key = tuple[str, str, str]  # broker, group, client id


@dataclass
class ConnectionBook:
    """The producers of the brokers that a batch of facts is about."""

    cluster: Cluster
    lists: Rows[str, ProducerList]
    producers: Rows[Key, Producer]

    @classmethod
    def open(cls, cluster: Cluster, facts: Sequence[Fact]) -> ConnectionBook:
        """Read the rows that these facts are about."""
        asked = [fact for fact in facts if isinstance(fact, ProducersSeen | AnswerMissed)]
        brokers = {known_as(fact.broker or "") for fact in asked if isinstance(fact, ProducersSeen) or is_about(fact)}
        lists = ProducerList.objects.filter(cluster=cluster, broker__in=brokers) if brokers else []
        told = {known_as(fact.broker) for fact in facts if isinstance(fact, ProducersSeen | BrokerGone)}
        producers = Producer.objects.filter(cluster=cluster, broker__in=told) if told else []
        return cls(cluster, Rows(ProducerList, lambda row: row.broker, lists), Rows(Producer, _key, producers))

    def write(self) -> None:
        """Write what changed."""
        self.lists.write()
        self.producers.write()

    def seen(self, fact: ProducersSeen) -> bool:
        """Take in all that a broker knows; tell whether anybody came, went or connected anew."""
        broker, columns = known_as(fact.broker), source_columns(fact)
        listed = self.lists.get(broker)
        low = None if listed is None or listed.missing is not None else listed.observed_at
        if listed is None:
            self.lists.add(ProducerList(cluster=self.cluster, broker=broker, **columns))
        elif observed_at(fact) < listed.observed_at:
            return False
        else:
            self.lists.update(listed, missing=None, missing_at=None, **columns)
        here: dict[Key, list[ProducerConnected]] = {}
        for one in fact.producers:
            here.setdefault((broker, known_as(one.group), known_as(one.client)), []).append(one)
        news = [self._there(key, found, columns, low) for key, found in here.items()]
        gone = [row for row in self._still_at(broker) if _key(row) not in here]
        for row in gone:
            self.producers.update(row, gone_at=max(fact.at, row.at))
        return any(news) or bool(gone)

    def broker_gone(self, fact: BrokerGone) -> None:
        """End the connections to a broker that is there no more; producers connect to masters alone."""
        if fact.broker_id == MASTER_ID:
            for row in self._still_at(known_as(fact.broker)):
                self.producers.update(row, gone_at=max(fact.at, row.at))

    def missed(self, fact: AnswerMissed) -> bool:
        """A broker did not tell: its producers are unknown from here on, those that were there may be still."""
        broker = known_as(fact.broker or "")
        row = self.lists.get(broker)
        if row is None:
            row = ProducerList(cluster=self.cluster, broker=broker, missing=fact.missing.value, missing_at=fact.at)
            for name, value in source_columns(fact).items():
                setattr(row, name, value)
            self.lists.add(row)
            return True
        if row.missing is not None or fact.at < row.observed_at:
            return False
        return self.lists.update(row, missing=fact.missing.value, missing_at=fact.at)

    def _still_at(self, broker: str) -> list[Producer]:
        return [row for row in self.producers if row.broker == broker and row.gone_at is None]

    def _there(
        self,
        key: Key,
        found: Sequence[ProducerConnected],
        columns: dict[str, int | str | bytes | None],
        low: int | None,
    ) -> bool:
        """Keep a producer; it came after the look before, where there was one."""
        row = self.producers.get(key)
        says = _says(found, None if row is None else row.address)
        if row is not None and row.gone_at is None:
            is_elsewhere = row.address != says["address"]
            self.producers.update(row, observed_at=columns["observed_at"], **says)
            return is_elsewhere
        began = {**columns, "at_low": low}
        if row is None:
            broker, group, client = key
            row = Producer(cluster=self.cluster, broker=broker, group_name=group, client_id=client)
            for name, value in {**began, **says}.items():
                setattr(row, name, value)
            self.producers.add(row)
            return True
        return self.producers.update(row, gone_at=None, **began, **says)


def _says(found: Sequence[ProducerConnected], address: str | None) -> dict[str, str]:
    """Give what a broker says of a producer; of several connections the one that was kept, as long as it is there."""
    by_address = {printable(one.address): one for one in found}
    kept = address if address in by_address else min(by_address)
    one = by_address[kept]
    return {"address": kept, "language": printable(one.language or ""), "version": printable(one.version or "")}


def is_about(fact: Fact) -> bool:
    """Ask whether a fact says that a broker did not tell its producers."""
    return isinstance(fact, AnswerMissed) and fact.request == ASKS_FOR_PRODUCERS and fact.broker is not None


def _key(row: Producer) -> Key:
    return row.broker, row.group_name, row.client_id
