"""What clients and commands report of themselves, exactly: tokens of groups, and the door by which reports come in."""
