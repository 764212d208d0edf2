"""Jobs over the recorded history: when they run, where, and what became of them; the work is the pipeline's."""
