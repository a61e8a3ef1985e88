"""Moses' files: `moses.ini`, phrase, reordering and rule tables."""
