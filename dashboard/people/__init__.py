"""Who may come in, and what they may see and do."""
