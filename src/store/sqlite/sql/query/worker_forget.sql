-- Workers that ended without a word, long ago.
delete from workers where seen_at < :before
