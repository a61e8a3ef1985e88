"""What a model remembers: segments with their translations, found again when they come back much the same."""
