"""One pure function for each stage: a recipe and labelled parents in, labelled results out."""
