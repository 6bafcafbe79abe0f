"""Distilled neural tangent kernels: a trained network's kernel, computed once, explored live."""
