"""The store in one SQLite file. Only `plantdesk.store` imports from here."""
