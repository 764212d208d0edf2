"""Clusters: brokers, topics, queues and producers, commands, and the lines of the event log on their way out."""
