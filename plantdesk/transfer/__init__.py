"""Files of plants: what `plantdesk export` writes and `plantdesk import` reads."""
