"""Computing from a page: the form for a run, what it will take, background jobs, distilling, shifts."""
