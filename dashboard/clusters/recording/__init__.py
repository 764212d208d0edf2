"""How facts about a cluster change its rows."""
