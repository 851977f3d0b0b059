"""What users pass in, checked and turned into numbers: tables, labels, targets, weights and parameters."""
