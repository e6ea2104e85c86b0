-- A claim that has run out: the reaper takes the event back.
update outbox set claim_expires_at = :now where seq = :seq and status = 'in_flight'
