"""The demo: an embedded cluster with a lively cast of consumers and producers. It knows nothing of Django.

``shop`` says who plays, ``script`` what happens when (a pure function of its seed), ``orders`` what people may order,
``stage`` does it all on sockets, ``control`` is the door for the watcher. ``python -m dashboard.demo`` runs it alone.
"""
