-- Records the handler for the events that it still holds; nothing comes back when all are fresh. Index event_handled_pkey.
select entered from core.effect_enter($1::text, $2::tid[], $3::uuid[], $4::bigint[], $5::text[]) as entered
