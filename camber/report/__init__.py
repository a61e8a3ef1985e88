"""Reports: pictures and pages that show what a model learnt and does, made without other packages."""
