"""A max-heap by sorting: the best score first, equal scores by the smaller item."""


class PriorityQueue:
    def __init__(self):
        self.entries = []

    def push(self, score, item):
        self.entries.append((-score, item))
        self.entries.sort()

    def pop(self):
        score, item = self.entries.pop(0)
        return -score, item
