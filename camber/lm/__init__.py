"""Language models: modified Kneser-Ney estimation, ARPA files, n-gram queries."""
