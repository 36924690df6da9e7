"""What a configuration may say, told by the code that reads it: to editors and to people."""
