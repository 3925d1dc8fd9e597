"""Experiments of papers, run again and laid side by side with what was printed."""
