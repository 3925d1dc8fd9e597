"""Losses for networks: whole and partial AUC, images and molecules."""
