"""What users pass in, as numbers: tables, labels, targets, weights, parameters; and every refusal."""
