"""What tables, their columns and what stands in these are called in the Django admin, in the reader's language."""
