"""surefoot inside other tools: each part is loaded by the tool it serves, and by nothing else here."""
