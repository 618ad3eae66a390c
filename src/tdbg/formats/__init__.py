"""Other tools' files, to and from traces."""
