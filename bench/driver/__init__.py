"""The driver of ./run bench: databases, daemons, peers, rounds, medians, tables and charts."""
