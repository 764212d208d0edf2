"""The control room: pages, storage and push, on Django. What is decided about rebalancing, the engine decides."""
