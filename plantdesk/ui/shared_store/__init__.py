"""The feature of shared stores on a PostgreSQL server: dialog, status, update of tables, and copies of stores."""
