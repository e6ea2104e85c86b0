"""What tracing costs: the same work with traces off, on for one trace in a hundred, and on for all."""
from driver.daemon import Receiver
from driver.database import Database
from driver.figures import at_least, in_turn, versus

# None: no tracer at all. Then the percentage of traces that are recorded.
SIDES = {"off": None, "on at 1 %": 1, "on": 100}
SESSIONS = 8


def traces(scale):
    """A drain and single publishes with traces off, on at 1 % and on, to a collector on this machine; against off, run once more."""
    def sides(measure):
        return [measure(None), *map(measure, SIDES.values())]

    with Receiver() as collector:
        def options(sampled):
            return {} if sampled is None else {"collector": collector.url, "sampled": sampled}

        def drain(sampled):
            def side():
                with Database() as database:
                    return database.rate("drain", events=scale.events, **options(sampled))
            return side

        def publish(sampled):
            def side():
                with Database() as database:
                    return database.rate("publish-single", sessions=SESSIONS, milliseconds=scale.seconds * 1000, **options(sampled))
            return side

        for name, unit, measure in (("drain", "events/s", drain), ("publish-single", "commits/s", publish)):
            base, *measured = in_turn(scale.rounds, *sides(measure))
            for label, rounds in zip(SIDES, measured):
                yield versus(f"traces, {name} ({label})", unit, rounds, "traces off", base, at_least(0.95) if label != "on" else None)
