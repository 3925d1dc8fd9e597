"""Suehiro, Hatano, Takimoto (ALT 2011): 1-norm soft margins over pairs."""
