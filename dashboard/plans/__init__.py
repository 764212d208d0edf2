"""Plans: dry runs of what would be, and by-config assignments that people edit."""
