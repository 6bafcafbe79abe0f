"""What a person asks of a page: an objective, the inputs behind a score, one prediction, two sides, a run's name."""
