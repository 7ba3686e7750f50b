"""Proofs: packages are installed, used, upgraded and removed."""
