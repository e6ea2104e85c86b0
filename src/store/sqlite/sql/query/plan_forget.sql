-- Plans that nobody started.
delete from operations where state = 'planned' and expires_at < :before
