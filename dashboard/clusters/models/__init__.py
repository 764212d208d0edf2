"""The tables of this room, one file a noun."""

from dashboard.clusters.models.canaries import Canary
from dashboard.clusters.models.commands import Command, CommandReceipt
from dashboard.clusters.models.outbox import OutboxLine
from dashboard.clusters.models.producers import Producer, ProducerBroker, ProducerList
from dashboard.clusters.models.routes import ASIDE, Broker, Cluster, Queue, Route, Topic
from dashboard.clusters.models.watching import Watch

__all__ = [
    "ASIDE",
    "Broker",
    "Canary",
    "Cluster",
    "Command",
    "CommandReceipt",
    "OutboxLine",
    "Producer",
    "ProducerBroker",
    "ProducerList",
    "Queue",
    "Route",
    "Topic",
    "Watch",
]
