"""The small tables of the book, their Chinese terms, and what the benchmarks and the tuning measured."""
