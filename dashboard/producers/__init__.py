"""Producers: which broker each would choose now, and which it leaves alone. A stock producer reports nothing of it."""
