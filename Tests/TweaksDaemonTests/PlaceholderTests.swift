// Replaced by the suites of the daemon.
