"""The phrase decoder: a search over stacks."""
