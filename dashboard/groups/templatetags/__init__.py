"""Filters of this room."""
