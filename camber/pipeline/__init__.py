"""From files to a model: the stages of training, each run once for the same inputs and settings."""
