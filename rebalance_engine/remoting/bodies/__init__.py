"""What travels in bodies: Java's classes as frozen dataclasses, under the names that Java gives them."""
