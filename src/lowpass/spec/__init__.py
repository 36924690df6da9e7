"""What may be asked: typed, frozen and validated parameters, one module for each stage."""
