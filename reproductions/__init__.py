"""Are the seed documents' numbers right? One script per document; `make reproduce` runs them all."""
