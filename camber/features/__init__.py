"""What features are called, what kind they are of, and their weights."""
