// Runs the operator's client of a fleet.
