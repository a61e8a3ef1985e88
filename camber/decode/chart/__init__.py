"""The chart decoder: a search over spans."""
