"""What a process has loaded by its start is left out of garbage collection: it stays, and looking at it takes long.

A full collection in a worker that has loaded all there is took 120 to 240 ms in the midst of a rebalance
(``make bench``, benchmark ``pages``); without what was loaded, under a millisecond.
"""

import gc


def set_aside() -> None:
    """Collect now, and leave what is alive out of all later collections of this process."""
    gc.collect()
    gc.freeze()
