"""The only place with SQL: schema, writer, reader, maintenance."""
