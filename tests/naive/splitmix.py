"""The finaliser of splitmix64 with Python's own integers."""

MASK = (1 << 64) - 1


def mix(key):
    h = key & MASK
    h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & MASK
    return (h ^ (h >> 31)) >> 1
