"""Rules: phrase extraction, features, reordering, the rule store, Moses tables."""
