-- Who really answers: behind a pooler another process than the one that was greeted.
select pg_backend_pid()
