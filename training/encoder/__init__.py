"""How the aligner's encoder is made: a small BERT from random weights, taught by a large one. See README.md beside
this folder."""
