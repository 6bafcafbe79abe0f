"""Who reaches the server and what its pages may open: the gate, the owner's settings, allowed folders, uploads."""
