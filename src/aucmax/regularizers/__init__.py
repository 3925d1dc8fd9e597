"""Penalties on the parameters and sets that limit them, with their proximal maps."""
