"""The frozen program, the folder that every package is made of."""
