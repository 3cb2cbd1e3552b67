"""How the default rewriter is made: pairs in, a Marian-layout model out. See README.md beside this file."""
