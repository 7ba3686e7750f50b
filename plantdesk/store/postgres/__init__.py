"""The shared store: a PostgreSQL database that several computers (desks) use. Only `plantdesk.store` imports it."""
