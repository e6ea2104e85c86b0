-- Locks the events under their claims and records the handler. Indexes outbox_pkey, event_handled_pkey.
select entered from core.effect_enter($1::text, $2::uuid[], $3::bigint[], $4::text[])
