"""How the tables of this room came to be."""
