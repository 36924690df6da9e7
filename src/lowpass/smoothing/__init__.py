"""Attention read as kernel smoothing: estimators, their bandwidth, their error bands."""
