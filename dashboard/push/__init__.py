"""What browsers get: every shape of message, and how a change reaches them after it was stored."""
