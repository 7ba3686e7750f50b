"""HTTP/1.1 on a connection: uvicorn's httptools protocol with stricter limits, deadlines and error responses."""
