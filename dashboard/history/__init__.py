"""Jobs over the recorded history and RocketMQ's own logs: when they run, where, and what became of them.

The work is the pipeline's.
"""
