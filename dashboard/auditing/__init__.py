"""The page of the audit log: who did what, and whether the log is still what was written."""
