-- The step of `sluice ladder partition` that was taken.
insert into core.audit (actor, surface, action, reason, detail)
values ($1::text, $2::text, 'ladder.partition', $3::text, jsonb_build_object('step', $4::text, 'boundary', $5::timestamptz))
