"""Welleck (ECIR 2016): trees grown for the AUC of several levels of relevance."""
