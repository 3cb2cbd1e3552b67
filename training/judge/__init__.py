"""Whether people take generated sentences for sentences of their frame. See README.md beside this folder."""
