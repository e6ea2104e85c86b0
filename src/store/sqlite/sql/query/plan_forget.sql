-- Plans that nobody started, and operations that are long over. The audit keeps who did what.
delete from operations where (state = 'planned' and expires_at < :expired_before) or ended_at < :ended_before
