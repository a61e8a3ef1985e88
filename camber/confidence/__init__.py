"""How sure a translation is: what speaks for it, and how much that was worth on text whose translations are known."""
