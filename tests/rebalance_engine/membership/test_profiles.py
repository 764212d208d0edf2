import re
from dataclasses import fields

import pytest

from rebalance_engine.membership import profiles
from rebalance_engine.membership.profiles import SINCE, UNTIL, BrokerRules, is_since, rules_of
from tests.rebalance_engine.membership.examples import policy


def test_every_rule_has_its_version_and_its_sentence() -> None:
    names = {field.name for field in fields(BrokerRules)}

    assert names == SINCE.keys() | UNTIL.keys()
    assert not SINCE.keys() & UNTIL.keys()
    assert names == set(re.findall(r"^        (\w+): ", BrokerRules.__doc__ or "", re.MULTILINE))


@pytest.mark.parametrize("rule", SINCE)
def test_a_rule_begins_with_its_release(rule: str) -> None:
    major, minor, patch = SINCE[rule]
    before = f"{major}.{minor}.{patch - 1}" if patch else f"{major}.{minor - 1}.9" if minor else "4.9.8"

    assert getattr(rules_of(f"{major}.{minor}.{patch}"), rule)
    assert not getattr(rules_of(before), rule)


def test_a_rule_ends_with_its_release() -> None:
    assert rules_of("5.0.0").takes_empty_for_new
    assert not rules_of("5.1.0").takes_empty_for_new


def test_the_four_profiles_differ_where_the_specification_says() -> None:
    old, middle, newer, newest = map(rules_of, ("4.9.7", "5.3.0", "5.3.1", "5.5.0"))

    assert [rules.spares_broadcasting for rules in (old, middle, newer, newest)] == [False, False, True, True]
    assert [rules.has_heartbeat_v2 for rules in (old, middle, newer, newest)] == [False, True, True, True]
    assert [rules.calls_queue_ids_invalid for rules in (old, middle, newer, newest)] == [False, False, False, True]


def test_zero_for_what_is_not_found_can_be_refused_since_5_0_0() -> None:
    assert [rules_of(version).heeds_set_zero for version in ("4.9.8", "5.0.0")] == [False, True]


@pytest.mark.parametrize("version", ["", "5", "5.x", "3.2.6", "five"])
def test_what_is_no_release_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="broker version"):
        rules_of(version)


def test_versions_compare_by_number() -> None:
    assert is_since("5.10.0", (5, 9, 0))
    assert not is_since("4.9.8", (5, 0, 0))


def test_a_setting_that_the_version_does_not_have_is_not_looked_at() -> None:
    wished = {"notifies_at_once": False, "rejects_pull_consumers": True, "handles_channels_fast": True}

    old, new = policy("4.9.7", **wished), policy("5.5.0", **wished)

    assert not (old.notifies_later or old.rejects_pull_consumers or old.handles_channels_fast)
    assert new.notifies_later and new.rejects_pull_consumers and new.handles_channels_fast


def test_resets_are_on_since_5_2_unless_they_are_set() -> None:
    assert not policy("5.1.4").resets_offsets
    assert policy("5.2.0").resets_offsets
    assert policy("5.1.4", resets_offsets=True).resets_offsets
    assert not policy("5.2.0", resets_offsets=False).resets_offsets
    assert not policy("5.0.0", resets_offsets=True).resets_offsets


def test_the_defaults_are_those_of_broker_config() -> None:
    settings = profiles.BrokerSettings()

    assert settings.channel_expires_after_ms == 120_000
    assert settings.pulled_subscription_expires_after_ms == 600_000
    assert settings.lock_expires_after_ms == 60_000
