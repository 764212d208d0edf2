"""What ``manage.py`` can do about history."""
