"""What a group's page has where scripts draw later, drawn by the server for its first paint."""
