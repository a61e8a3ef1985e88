"""Files that are translated in place: all that is no translation stays as it is, byte by byte."""
