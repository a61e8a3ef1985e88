"""A server for models: the protocols that translators' tools speak, and a page."""
