-- Statistics over all partitions are nobody's but ours to make: autovacuum looks at each alone.
analyze core.outbox
