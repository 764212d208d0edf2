"""How facts about a group change its rows."""
