-- What pull tokens are signed with; one row.
select core.token_secret()
