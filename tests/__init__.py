"""Tests of surefoot."""
