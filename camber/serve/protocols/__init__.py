"""One file for each protocol: what its requests ask for, and how its answers look. No file here reads or waits."""
