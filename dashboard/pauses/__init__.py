"""What rebalances cost a group: how long each queue stood still, round by round, and how far the group is behind."""
