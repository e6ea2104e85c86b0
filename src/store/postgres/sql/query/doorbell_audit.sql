-- Who changed when inserts notify.
insert into core.audit (actor, surface, reason, action, detail)
values ($1::text, $2::text, $3::text, 'doorbell', jsonb_build_object('mode', $4::text))
