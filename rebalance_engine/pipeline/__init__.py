"""What rebalancing cost, told from RocketMQ's own logs and from recorded history, by Spark.

``lines -> events -> holds -> rounds, handoffs -> measures -> reports``: each stage is a function from frames to frames
with a declared schema, and its result lies as Parquet in the output folder. It runs as a program of its own
(``python -m rebalance_engine.pipeline``); only this room imports PySpark.
"""
