"""Engines: where maps over pieces of work run.

A stage hands over a task, what all pieces share, and the pieces; it gets the results in the order of the pieces, so the
outcome does not depend on where they were computed. What pieces give for the same key is merged in their order, too, by
ranges of keys (:meth:`Engine.exchange`). A task is a function of a module, which returns its result and
never writes into what is shared: so threads, processes and other machines can all run it. All that a task is given and
returns can be pickled.
"""

from camber.engine.engine import Engine
from camber.engine.threads import LOCAL, Lock, PerThread, Threads, for_python, split_evenly

__all__ = ["LOCAL", "Engine", "Lock", "PerThread", "Threads", "for_python", "split_evenly"]
