"""Engines: where maps over pieces of work run."""
