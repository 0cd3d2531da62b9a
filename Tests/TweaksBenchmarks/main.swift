// Replaced by the benchmarks.
