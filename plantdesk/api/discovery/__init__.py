"""How scripts find a running server and verify that it is the user's own."""
