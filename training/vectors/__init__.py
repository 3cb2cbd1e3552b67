"""Word vectors: which words mean alike."""
