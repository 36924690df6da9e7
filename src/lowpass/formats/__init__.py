"""Arrays out of the bytes of files, one module for each kind of file."""
