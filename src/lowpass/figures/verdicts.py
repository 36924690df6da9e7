"""Figures in preparation."""
