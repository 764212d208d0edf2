"""Consumer groups: who is a member, what each should have and has, rounds, findings."""
