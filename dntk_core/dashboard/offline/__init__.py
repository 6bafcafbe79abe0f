"""Pages without a server: the report, exports, pictures, the paper's experiments."""
