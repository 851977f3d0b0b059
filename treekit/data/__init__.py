"""The small tables of the book, and the measurements of the benchmarks."""
