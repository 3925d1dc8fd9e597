"""Penalties on the parameters and sets that limit them, with their proximal maps.

Internal: these modules may change without notice.
"""
