"""Files of texts in two languages, or of one that is to be translated: TMX, XLIFF, PO, MO, tables, plain text."""
