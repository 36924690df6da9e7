"""What the notes say, and what stored numbers say about it.

A claim is a sentence a reader could disagree with, its source, the condition
under which it is true, and one function from stored datasets to a distance.
"""
