-- A vacuum has to give way first, which takes it a second and blocks nobody else. Whoever comes while the next lock is waited for
-- waits behind it, so that is for a moment only, and is tried again.
begin;
set local lock_timeout = '10s';
lock table core.outbox in share update exclusive mode;
set local lock_timeout = '100ms';
