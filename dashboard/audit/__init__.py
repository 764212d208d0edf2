"""Who did what: an append-only log, each entry chained to the one before by its digest."""
