"""What a process has loaded by its start is left out of garbage collection: it stays, and looking at it takes long.

A full collection in a worker that has loaded all there is took 120 to 240 ms in the midst of a rebalance
(``make bench``, benchmark ``pages``); without what was loaded, under a millisecond.
"""

import gc


def put_off() -> None:
    """Collect nothing until ``set_aside``: of what is loaded nearly all stays, and looking through it takes long.

    Of what the web process takes to start it was an eighth; it then has 0.8 MB more.
    """
    gc.disable()


def set_aside() -> None:
    """Collect now, unless that was put off, and leave what is alive out of all later collections of this process."""
    if gc.isenabled():
        gc.collect()
    gc.freeze()
    gc.enable()
