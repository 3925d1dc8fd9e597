"""Hypotheses that map a row to [-1, 1], as columns, stumps or functions.

Internal: these modules may change without notice.
"""
