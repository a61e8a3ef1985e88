"""Rows of words looked up among others, with a dictionary."""


def find(rows, shift, known):
    """Return which of the known rows each row is from column `shift` on, -1 where there is none."""
    numbers = {tuple(row): number for number, row in enumerate(known)}
    width = len(known[0]) if known else 0
    return [numbers.get(tuple(row[shift : shift + width]), -1) for row in rows]


def first_repeat(rows):
    """Return the first row that repeats another, -1 if there is none."""
    return next((number for number, row in enumerate(rows) if row in rows[:number]), -1)
