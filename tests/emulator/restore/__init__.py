"""Tests of clusters that start from an image."""
