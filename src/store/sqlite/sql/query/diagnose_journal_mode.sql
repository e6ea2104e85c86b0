-- How changes reach the file: wal.
pragma journal_mode
