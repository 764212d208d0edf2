"""What ``manage.py up`` starts, watches over and stops: ``machine`` decides, ``running`` does it."""
