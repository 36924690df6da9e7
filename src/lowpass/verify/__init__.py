"""Results against the expected ones that the project keeps."""
