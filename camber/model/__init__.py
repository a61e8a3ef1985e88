"""Models: a directory that is whole or absent; the translator that opens it."""
