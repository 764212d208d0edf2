from rebalance_engine.remoting import errors


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = [line for line in (errors.__doc__ or "").splitlines() if line.startswith("    ")]
    parents: dict[int, type] = {}
    for line in drawn:
        depth = (len(line) - len(line.lstrip(" │├└─"))) // 4
        kind = getattr(errors, line.lstrip(" │├└─").split()[0])
        parents[depth] = kind

        assert depth == 1 or kind.__base__ is parents[depth - 1]

    assert len(drawn) == 8


def test_whose_fault_it_is_can_be_caught_apart() -> None:
    assert not issubclass(errors.LocalProtocolError, errors.RemoteProtocolError)
    assert not issubclass(errors.BrokenContent, errors.BrokenFrame)
