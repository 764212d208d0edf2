"""A first-connection check: what of a cluster can be reached and asked, with advice where it cannot.

Nothing is changed by it. Every check says what was seen; one that failed says what to do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from ipaddress import ip_address
from typing import Protocol, TypeVar

from rebalance_engine.effects import Address
from rebalance_engine.events import Missing
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.answers import Answerer, why_missing
from rebalance_engine.network.asked import Deadline, Heard
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import ids_of, masters_of
from rebalance_engine.network.rewriting import reachable, split_address
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.surveying import BrokerLook, look_at_brokers
from rebalance_engine.network.system_groups import is_system_group
from rebalance_engine.network.tls import Tls
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.routes import ClusterInfo
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.errors import RemotingError
from rebalance_engine.remoting.requests.nameserver import GetBrokerClusterInfo
from rebalance_engine.remoting.versions import release

CHECKUP_S = 30.0
OTHER_WAY_S = 3.0
OLDEST = (4, 9, 0)
CLOCK_WARNS_MS, CLOCK_FAILS_MS = 2_000, 30_000
NOTIFY = "notifyConsumerIdsChangedEnable"
PURPOSE = {
    RequestCode.GET_ALL_TOPIC_CONFIG: "topics",
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: "groups",
    RequestCode.GET_BROKER_RUNTIME_INFO: "version and figures of the broker",
    RequestCode.GET_CONSUMER_CONNECTION_LIST: "members",
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: "member lists",
    RequestCode.GET_CONSUMER_RUNNING_INFO: "what members hold",
    RequestCode.GET_ALL_PRODUCER_INFO: "producers",
    RequestCode.GET_ALL_CONSUMER_OFFSET: "committed offsets",
    RequestCode.GET_CONSUME_STATS: "how far groups are",
    RequestCode.GET_BROKER_CONFIG: "whether members are notified",
}

# What servers say of keys, in small letters: ``rocketmq-auth`` of 5.3 and later, ``rocketmq-acl`` of earlier ones.
FORGED = "check signature failed"
UNKNOWN_ACCOUNT = re.compile(r"user:\S* (is )?not found|no acl config for")
DISABLED = "is disabled"

T = TypeVar("T")
MOST_GROUPS = 20  # are tried until one with a member is found


class Hear(Protocol):
    """Asks, and keeps what trouble there was."""

    async def __call__(self, code: RequestCode, ask: Callable[[float], Awaitable[T]]) -> T | None:
        """Give the answer, or None."""


class Verdict(Enum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what was checked, what was seen, and what to do about it."""

    verdict: Verdict
    subject: str
    seen: str
    advice: str = ""


async def check_cluster(admin: Admin, settings: NetworkSettings, *, deadline_s: float = CHECKUP_S) -> list[Check]:
    """Check everything; in the order in which a connection is made."""
    name_servers, brokers = await look_at_brokers(admin, deadline_s=deadline_s / 2)
    checks = list(await asyncio.gather(*(_name_server(heard, settings) for heard in name_servers.values())))
    infos = [heard.value for heard in name_servers.values()]
    if not any(infos):
        return checks
    checks += _agreement(name_servers)
    if not brokers:
        advice = "Start brokers with namesrvAddr set to these name servers; they register every 30 seconds."
        return [*checks, Check(Verdict.FAILED, "brokers", "the name servers know none", advice)]
    for broker in brokers:
        checks += [_reached(broker, settings), *_version(broker), *_clock(broker)]
    reached = {broker.address for broker in brokers if broker.runtime.value is not None or _is_refused(broker)}
    masters = {name: address for name, address in masters_of(infos).items() if address in reached}
    deadline = Deadline(deadline_s / 2)
    parts = [_permissions(admin, settings, deadline, name, address) for name, address in masters.items()]
    return checks + [check for part in await asyncio.gather(*parts) for check in part]


# ---- name servers ----


async def _name_server(heard: Heard[ClusterInfo], settings: NetworkSettings) -> Check:
    subject = f"name server {heard.by.address}"
    if heard.value is not None:
        how = "with TLS" if settings.tls is not None else "without TLS"
        known = len(heard.value.broker_addr_table)
        return Check(Verdict.OK, subject, f"answers, {how}; it knows {known} broker{'' if known == 1 else 's'}")
    if isinstance(heard.trouble, Denied):
        advice = _no(heard.trouble, settings)
    else:
        away = "See that host and port are right, that it runs, and that no firewall stands between."
        advice = await _other_way(heard.by.address, settings) or away
    return Check(Verdict.FAILED, subject, heard.why, advice)


def _no(denied: Denied, settings: NetworkSettings) -> str:
    """Say what to do about one that answers, and says no."""
    if why_missing(denied) is Missing.NO_PERMISSION:
        return _keys(str(denied), settings) or "Let the account of this access key ask this name server (ACL)."
    if denied.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        return "It answers, but is no name server (a broker?); those usually listen on port 9876."
    return "It answers, and refuses what it is asked: see what its log says."


async def _other_way(address: Address, settings: NetworkSettings) -> str:
    """Find out whether TLS is what stands in the way: try the connection the other way."""
    if settings.tls is None:
        if await _answers(address, replace(settings, tls=Tls(verify=False, check_host=False))):
            return "It answers with TLS only: connect with --tls (and --tls-ca FILE if its certificate is your own)."
        return ""
    tls = settings.tls
    if tls.verify:  # first: to leave TLS away is no remedy for a certificate
        if tls.check_host and await _answers(address, replace(settings, tls=replace(tls, check_host=False))):
            host = reachable(address, settings.rewrite)[0]
            return f"Its certificate is not for {host}: give it one that names {host}, or call it by the name it has."
        if await _answers(address, replace(settings, tls=replace(tls, verify=False, check_host=False))):
            whom = f"{tls.ca} did not sign it" if tls.ca is not None else "this system does not know who signed it"
            return f"Its certificate is not trusted, {whom}: name who did by --tls-ca FILE."
    if await _answers(address, replace(settings, tls=None)):
        return "It answers without TLS only: leave --tls away, or set tls.server.mode on the servers."
    return ""


async def _answers(address: Address, settings: NetworkSettings) -> bool:
    async with Transport(settings) as transport:
        try:
            await transport.request(address, GetBrokerClusterInfo(), round(OTHER_WAY_S * 1000))
        except (NoAnswer, OSError):
            return False
        except RemotingError:
            return True  # whatever it said
    return True


def _agreement(name_servers: Mapping[Address, Heard[ClusterInfo]]) -> Iterator[Check]:
    told = {address: heard.value for address, heard in name_servers.items() if heard.value is not None}
    if len(told) < 2:
        return
    tables = {
        address: {
            (name, number, at)
            for name, one in info.broker_addr_table.items()
            for number, at in one.broker_addrs.items()
        }
        for address, info in told.items()
    }
    everything = set().union(*tables.values())
    lacking = {address: sorted(everything - table) for address, table in tables.items() if everything - table}
    if not lacking:
        yield Check(Verdict.OK, "name servers", f"all {len(told)} know the same brokers")
        return
    seen = "; ".join(
        f"{address} does not know {', '.join(f'{name}:{number} at {at}' for name, number, at in missing)}"
        for address, missing in lacking.items()
    )
    advice = (
        "List every name server in namesrvAddr of every broker: clients of one that lacks a broker divide fewer queues."
    )
    yield Check(Verdict.FAILED, "name servers", seen, advice)


# ---- brokers ----


def _reached(broker: BrokerLook, settings: NetworkSettings) -> Check:
    subject = f"broker {broker.name} {broker.role}"
    if broker.runtime.value is not None or _is_refused(broker):
        return Check(Verdict.OK, subject, f"answers at {broker.address}{_detour(broker.address, settings)}")
    advice = (
        "This is the address that the broker advertises, and that every client calls. Set brokerIP1 (and listenPort) "
        "in its configuration to one that can be reached, or lead this tool there with --rewrite FROM=TO."
    )
    if _is_inside(broker.address):
        advice += f" {split_address(broker.address)[0]} can be reached from its own machine or network only."
    seen = f"does not answer at {broker.address}{_detour(broker.address, settings)}: {broker.runtime.why}"
    return Check(Verdict.FAILED, subject, seen, advice)


def _detour(address: Address, settings: NetworkSettings) -> str:
    host, port = reachable(address, settings.rewrite)
    return "" if (host, port) == split_address(address) else f" (called at {host}:{port})"


def _is_inside(address: Address) -> bool:
    try:
        at = ip_address(split_address(address)[0])
    except ValueError:
        return False
    return at.is_private or at.is_loopback or at.is_link_local


def _is_refused(broker: BrokerLook) -> bool:
    """Whether the broker was reached, but says no."""
    trouble = broker.runtime.trouble
    return trouble is not None and why_missing(trouble) in {Missing.NO_PERMISSION, Missing.REFUSED}


def _version(broker: BrokerLook) -> Iterator[Check]:
    if broker.runtime.value is None:
        return
    subject = f"version of {broker.name} {broker.role}"
    told = broker.runtime.value.get("brokerVersionDesc", "")
    name = told.removeprefix("V").replace("_", ".")
    try:
        number = release(name, "version")
    except ValueError:
        yield Check(Verdict.WARNING, subject, f"it says {told!r}", "Tested are 4.9 to 5.5; with others take care.")
        return
    if number < OLDEST:
        advice = "Tested are 4.9 to 5.5: older brokers know neither producers (328) nor some settings; upgrade."
        yield Check(Verdict.WARNING, subject, name, advice)
    else:
        yield Check(Verdict.OK, subject, name)


def _clock(broker: BrokerLook) -> Iterator[Check]:
    shown, subject = broker.clock_ms, f"clock of {broker.name} {broker.role}"
    if broker.runtime.value is None:
        return
    if shown is None:
        yield Check(Verdict.WARNING, subject, "it does not tell when it started", "Compare its clock by hand.")
        return
    ours = broker.runtime.by.at - broker.took_ms // 2
    unsure_ms = 500 + broker.took_ms // 2
    difference = shown + 500 - ours
    off = max(0, abs(difference) - unsure_ms)
    ahead = "ahead of" if difference > 0 else "behind"
    seen = f"within {unsure_ms / 1000:.1f} s of ours" if not off else f"{abs(difference) / 1000:.1f} s {ahead} ours"
    verdict = Verdict.FAILED if off > CLOCK_FAILS_MS else Verdict.WARNING if off > CLOCK_WARNS_MS else Verdict.OK
    advice = "Let both machines keep time by NTP: ages, lag in time and the order of log lines are wrong by as much."
    yield Check(verdict, subject, seen, advice if verdict is not Verdict.OK else "")


# ---- what we may ask ----


async def _permissions(
    admin: Admin, settings: NetworkSettings, deadline: Deadline, name: str, address: Address
) -> list[Check]:
    """Ask one of each; which codes are refused, and which are not answered."""
    troubles: dict[RequestCode, Heard[object]] = {}

    async def hear(code: RequestCode, ask: Callable[[float], Awaitable[T]]) -> T | None:
        by = Answerer(address=address, code=code, at=deadline.now(), broker=name)
        heard = await deadline.hear(by, ask)
        if heard.trouble is not None:
            troubles[code] = heard
        return heard.value

    code = RequestCode
    await hear(code.GET_ALL_TOPIC_CONFIG, lambda s: admin.topic_configs(address, timeout_s=s))
    await hear(code.GET_BROKER_RUNTIME_INFO, lambda s: admin.runtime(address, timeout_s=s))
    await hear(code.GET_ALL_PRODUCER_INFO, lambda s: admin.producers(address, timeout_s=s))
    await hear(code.GET_ALL_CONSUMER_OFFSET, lambda s: admin.offsets(address, timeout_s=s))
    config = await hear(code.GET_BROKER_CONFIG, lambda s: admin.broker_config(address, {NOTIFY}, timeout_s=s))
    groups = await hear(code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, lambda s: admin.group_configs(address, timeout_s=s))
    names = [one for one in (groups.subscription_group_table if groups else ()) if not is_system_group(one)]
    await _ask_about_a_group(admin, hear, address, sorted(names))
    return [*_refused(name, troubles, settings), *_notifies(name, config)]


async def _ask_about_a_group(admin: Admin, hear: Hear, address: Address, names: list[str]) -> None:
    """Ask about groups until one is found in which somebody is online, and then about a member."""
    for group in names[:MOST_GROUPS] or ["TOOLS_CONSUMER"]:
        if await _ask_about(admin, hear, address, group):
            return


async def _ask_about(admin: Admin, hear: Hear, address: Address, group: str) -> bool:
    code = RequestCode
    told = await hear(code.GET_CONSUMER_CONNECTION_LIST, lambda s: admin.members(address, group, timeout_s=s))
    await hear(code.GET_CONSUMER_LIST_BY_GROUP, lambda s: admin.member_ids(address, group, timeout_s=s))
    ids = ids_of(told)
    if not ids:
        return False
    await hear(code.GET_CONSUME_STATS, lambda s: admin.consume_stats(address, group, timeout_s=s))
    await hear(code.GET_CONSUMER_RUNNING_INFO, lambda s: admin.running_info(address, group, ids[0], timeout_s=s))
    return True


def _refused(name: str, troubles: Mapping[RequestCode, Heard[object]], settings: NetworkSettings) -> Iterator[Check]:
    subject = f"permissions at {name}"
    denied = [
        code
        for code, heard in troubles.items()
        if heard.trouble and why_missing(heard.trouble) is Missing.NO_PERMISSION
    ]
    others = [code for code in troubles if code not in denied]
    if denied:
        said = troubles[denied[0]].why
        advice = _keys(said, settings) or (
            "Let the account of this access key ask these codes: an admin account in plain_acl.yml (ACL 1.0), or the "
            "actions Get and List on Cluster:*, Topic:* and Group:* (ACL 2.0). Without them these stay unknown."
        )
        lost = ", ".join(f"{int(code)} ({PURPOSE[code]})" for code in denied)
        yield Check(Verdict.FAILED, subject, f"refused: {lost}. The broker says: {said}", advice)
    if others:
        said = "; ".join(f"{int(code)} ({PURPOSE[code]}): {troubles[code].why}" for code in others)
        advice = "What these would tell stays unknown. If a client does not answer (307), look at that client."
        yield Check(Verdict.WARNING, f"answers of {name}", said, advice)
    if not troubles:
        yield Check(Verdict.OK, subject, "everything that was asked was answered")


def _keys(said: str, settings: NetworkSettings) -> str:
    """Say what is wrong with the keys, by what the server said; empty: nothing, what is lacking are rights."""
    if settings.acl is not None:
        key, words = settings.acl.access_key, said.lower()
        if FORGED in words:
            return f"The secret is wrong: set ROCKETMQ_SECRET_KEY to that of the account {key}."
        if UNKNOWN_ACCOUNT.search(words):
            return f"There is no account {key}: see that the access key is right, or make that account on the servers."
        if DISABLED in words:
            return f"The account {key} is disabled: enable it on the servers, or take another."
        return ""
    return (
        "It asks for keys (ACL), and none were given: set ROCKETMQ_ACCESS_KEY (or --access-key) and "
        "ROCKETMQ_SECRET_KEY to those of an account that may ask this."
    )


def _notifies(name: str, config: Mapping[str, str] | None) -> Iterator[Check]:
    if config is not None and config.get(NOTIFY) == "false":
        advice = (
            f"Set {NOTIFY}=true: without it members notice a join or a leave only every 20 s, and cannot be probed."
        )
        yield Check(Verdict.WARNING, f"notifications of {name}", f"{NOTIFY} is false", advice)
