"""The tables of plans, step by step."""
