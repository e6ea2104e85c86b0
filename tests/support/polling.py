"""Waiting for what another process does."""
import time

PAUSE = 0.02  # seconds; to ask without one takes the processor from those who are waited for


def until(ask, enough=bool, patience=None):
    """The first answer that is enough; after `patience` seconds the last one, whatever it is."""
    begun = time.monotonic()
    while not enough(answer := ask()) and (patience is None or time.monotonic() - begun < patience):
        time.sleep(PAUSE)
    return answer
