from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.reaching import network_of


def test_how_clusters_are_reached_is_read_from_the_environment() -> None:
    given = network_of(
        {
            "ROCKETMQ_ACCESS_KEY": "shop",
            "ROCKETMQ_SECRET_KEY": "12345678",
            "EVENKEEL_TLS": "yes",
            "EVENKEEL_REWRITE": "10.0.0.1=localhost, 10.0.0.2:1 = localhost:2,[fd00::1]=::1",
        }
    )

    assert given.acl is not None
    assert given.tls is not None
    assert given.tls.verify
    assert given.rewrite == {"10.0.0.1": "localhost", "10.0.0.2:1": "localhost:2", "[fd00::1]": "::1"}
    assert network_of({}).acl is None
    assert network_of({}).tls is None


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (
            {"ROCKETMQ_ACCESS_KEY": "shop"},
            "ROCKETMQ_ACCESS_KEY is set and ROCKETMQ_SECRET_KEY is empty; needed are both",
        ),
        ({"ROCKETMQ_SECRET_KEY": "s3cr3t"}, "ROCKETMQ_SECRET_KEY is set and ROCKETMQ_ACCESS_KEY is empty; needed are"),
        ({"EVENKEEL_REWRITE": "foo"}, "EVENKEEL_REWRITE has 'foo'; it needs FROM=TO, each a host or host:port"),
        ({"EVENKEEL_REWRITE": "a=b,c="}, "EVENKEEL_REWRITE has 'c='; it needs FROM=TO"),
        ({"EVENKEEL_REWRITE": "a=b=c"}, "EVENKEEL_REWRITE has 'a=b=c'; it needs FROM=TO"),
        ({"EVENKEEL_REWRITE": "a=http://b"}, "EVENKEEL_REWRITE has 'a=http://b'; it needs FROM=TO"),
        ({"EVENKEEL_REWRITE": "a=b:99999"}, "EVENKEEL_REWRITE has 'a=b:99999'; it needs FROM=TO"),
        ({"EVENKEEL_TLS": "maybe"}, "EVENKEEL_TLS is 'maybe'; it needs one of"),
        (
            {"EVENKEEL_TLS_CA": "{home}/none.pem"},
            "EVENKEEL_TLS_CA is '{home}/none.pem'; it needs a PEM .*: No such file",
        ),
        ({"EVENKEEL_TLS_CA": "{home}"}, "EVENKEEL_TLS_CA is '{home}'; it needs a PEM file .*: Is a directory"),
        ({"EVENKEEL_TLS_CA": "{home}/letter"}, "EVENKEEL_TLS_CA is .*: there are no certificates in it"),
    ],
)
def test_what_makes_no_sense_is_named(wrong: dict[str, str], word: str, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear reader")

    with pytest.raises(ImproperlyConfigured, match=word.format(home=tmp_path)) as refused:
        network_of({name: value.format(home=tmp_path) for name, value in wrong.items()})

    assert "s3cr3t" not in str(refused.value)
