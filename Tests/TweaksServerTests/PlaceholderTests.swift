// Replaced by the suites of the server.
