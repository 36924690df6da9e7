"""Jobs on other machines: what they are told, who may send them, and why one failed."""
