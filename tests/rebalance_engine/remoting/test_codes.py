from rebalance_engine.remoting.codes import Language


def test_an_unlisted_language_is_other() -> None:
    assert Language.named("GO") is Language.GO
    assert Language.named("COBOL") is Language.OTHER
    assert Language.named(None) is Language.OTHER
    assert Language.numbered(9) is Language.GO
    assert Language.numbered(14) is Language.OTHER
