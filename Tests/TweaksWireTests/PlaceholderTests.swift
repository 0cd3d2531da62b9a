// Replaced by the suites of the wire.
