-- What pull tokens are signed with; one row.
select value from secrets where key = 'pull_tokens'
