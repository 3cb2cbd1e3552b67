"""The rewriter that is a language model: a low-rank adapter for a model that others trained."""
