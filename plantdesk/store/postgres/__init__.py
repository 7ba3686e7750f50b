"""The kind of store on a PostgreSQL server, which several desks share. Reached through its location alone."""
