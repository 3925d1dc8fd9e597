"""Shared by all packages: checks, features, folds, compiled loops, progress."""
