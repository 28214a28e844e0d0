"""The core types: what data and answers look like everywhere in surefoot."""
