// Replaced by the suites of the demo.
