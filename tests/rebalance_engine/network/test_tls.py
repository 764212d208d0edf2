import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import ServerTls, Tls, TlsMode
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.codec import encode
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from tests.rebalance_engine.network.clusters import until
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import answering, caller

ASK = NotifyConsumerIdsChanged(consumer_group="G")
LARGE = NotifyConsumerIdsChanged(consumer_group="G" * 500_000)


@dataclass(frozen=True)
class Papers:
    """Files in PEM: who is trusted, and the certificates of a server at 127.0.0.1, one elsewhere, and a client."""

    authority: Path
    server: Path
    elsewhere: Path
    client: Path


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    folder = tmp_path_factory.mktemp("papers")
    authority = trustme.CA()
    found = Papers(folder / "ca.pem", folder / "server.pem", folder / "elsewhere.pem", folder / "client.pem")
    authority.cert_pem.write_to_path(str(found.authority))
    for path, name in ((found.server, "127.0.0.1"), (found.elsewhere, "broker.example"), (found.client, "client")):
        authority.issue_cert(name).private_key_and_cert_chain_pem.write_to_path(str(path))
    return found


def calling(tls: Tls | None) -> Transport:
    return Transport(NetworkSettings(tls=tls))


@pytest.mark.parametrize("mode", [TlsMode.PERMISSIVE, TlsMode.ENFORCING])
@on_a_loop
async def test_a_secured_request_is_answered(papers: Papers, mode: TlsMode) -> None:
    async with (
        Listener(tls=ServerTls(certificate=papers.server, mode=mode)) as listener,
        calling(Tls(ca=papers.authority)) as transport,
    ):
        answering(listener, lambda _: Response(remark="S" * 500_000))
        address = await listener.start()

        assert await transport.request(address, LARGE) == Response(remark="S" * 500_000)
        assert await transport.request(address, ASK) == Response(remark="S" * 500_000)


@on_a_loop
async def test_a_permissive_port_takes_plain_connections_too(papers: Papers) -> None:
    async with Listener(tls=ServerTls(certificate=papers.server)) as listener, calling(None) as transport:
        answering(listener, lambda _: Response())

        assert await transport.request(await listener.start(), ASK) == Response()


@on_a_loop
async def test_an_enforcing_port_closes_plain_connections(papers: Papers) -> None:
    tls = ServerTls(certificate=papers.server, mode=TlsMode.ENFORCING)
    async with Listener(tls=tls) as listener, caller(await listener.start()) as client:
        await client.write(encode(ASK, opaque=1))
        with pytest.raises((EOFError, ConnectionResetError)):
            await client.read()


@pytest.mark.parametrize("mode", [None, TlsMode.DISABLED])
@on_a_loop
async def test_a_plain_port_closes_secured_connections(papers: Papers, mode: TlsMode | None) -> None:
    tls = None if mode is None else ServerTls(certificate=papers.server, mode=mode)
    async with Listener(tls=tls) as listener, calling(Tls(ca=papers.authority)) as transport:
        with pytest.raises(NoAnswer, match="the connection could not be made"):
            await transport.request(await listener.start(), ASK)


@pytest.mark.parametrize(
    ("certificate", "tls", "why"),
    [
        ("server", lambda _: Tls(), "certificate verify failed: unable to get local issuer certificate"),
        ("elsewhere", lambda papers: Tls(ca=papers.authority), "IP address mismatch"),
    ],
)
@on_a_loop
async def test_a_server_that_does_not_prove_who_it_is_is_not_called(
    papers: Papers, certificate: str, tls: Callable[[Papers], Tls], why: str
) -> None:
    async with (
        Listener(tls=ServerTls(certificate=getattr(papers, certificate))) as listener,
        calling(tls(papers)) as transport,
    ):
        with pytest.raises(NoAnswer, match=why):
            await transport.request(await listener.start(), ASK)


@pytest.mark.parametrize("tls", [lambda _: Tls(verify=False), lambda p: Tls(ca=p.authority, check_host=False)])
@on_a_loop
async def test_the_name_of_the_server_matters_only_if_it_is_to_be_checked(
    papers: Papers, tls: Callable[[Papers], Tls]
) -> None:
    async with Listener(tls=ServerTls(certificate=papers.elsewhere)) as listener, calling(tls(papers)) as transport:
        answering(listener, lambda _: Response())

        assert await transport.request(await listener.start(), ASK) == Response()


@on_a_loop
async def test_a_client_proves_who_it_is_where_that_is_needed(papers: Papers) -> None:
    tls = ServerTls(certificate=papers.server, client_ca=papers.authority)
    known = Tls(ca=papers.authority, certificate=papers.client)
    async with Listener(tls=tls) as listener, calling(known) as mine, calling(Tls(ca=papers.authority)) as stranger:
        answering(listener, lambda _: Response())
        address = await listener.start()

        assert await mine.request(address, ASK) == Response()
        with pytest.raises(NoAnswer):
            await stranger.request(address, ASK)


def test_files_that_are_missing_or_no_certificates_are_errors_at_once(papers: Papers, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()

    with pytest.raises(FileNotFoundError, match=r"missing\.pem"):
        Tls(ca=tmp_path / "missing.pem").context()
    with pytest.raises(FileNotFoundError, match=r"key\.pem"):
        Tls(certificate=papers.client, key=tmp_path / "key.pem").context()
    with pytest.raises(ssl.SSLError, match=r"empty\.pem"):
        Tls(ca=tmp_path / "empty.pem").context()
    with pytest.raises(ssl.SSLError, match=r"empty\.pem"):
        ServerTls(certificate=tmp_path / "empty.pem").context()
    with pytest.raises(ssl.SSLError, match=r"ca\.pem"):  # a chain without its key
        ServerTls(certificate=papers.authority).context()


def test_passwords_do_not_show() -> None:
    word = "hush"

    assert word not in repr(Tls(password=word)) + repr(ServerTls(certificate=Path("c"), password=word))


@on_a_loop
async def test_a_server_says_why_it_refused_a_caller_who_does_not_trust_it(
    papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    async with Listener(tls=ServerTls(certificate=papers.server)) as listener, calling(Tls()) as transport:
        address = await listener.start()
        with caplog.at_level("WARNING"):
            with pytest.raises(NoAnswer, match="certificate verify failed"):
                await transport.request(address, ASK)
            await until(lambda: "was refused" in caplog.text)

    assert "the caller hung up before the TLS handshake was over" in caplog.text
