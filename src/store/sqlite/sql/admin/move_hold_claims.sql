-- While a move waits for what is in flight: nothing new is claimed until $until$, when the hold ends by itself. RAISE takes
-- literals only, so the adapter writes them in.
drop trigger if exists move_hold_claims;
create trigger move_hold_claims before update of status on outbox
  when old.status = 'pending' and new.status = 'in_flight' and strftime('%Y-%m-%dT%H:%M:%f', 'now') < '$until$'
begin
  select raise(abort, '$message$');
end;
