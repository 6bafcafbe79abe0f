"""How things are put on a page: figures updated in place, panels, inputs, links, words, colours, code to copy."""
