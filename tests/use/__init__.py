"""PlantDesk as it is used: the real program in a real window under Xvfb, with keys and clicks at a user's speed.

`python3 packaging/dev.py use` runs these tests; they are not part of `dev.py test`. What was done is compared with what
is in the store.
"""
