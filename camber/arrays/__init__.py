"""Arrays: as files, ragged, and in sparse rows."""
