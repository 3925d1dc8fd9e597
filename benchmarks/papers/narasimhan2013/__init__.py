"""Narasimhan and Agarwal (KDD 2013): machines trained for the partial AUC."""
