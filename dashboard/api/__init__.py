"""The API: everything that the pages show, and what they do, by the same functions and with the same permissions."""
