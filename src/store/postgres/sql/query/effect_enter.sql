-- Records the handler for the events that it still holds; nothing comes back when all are fresh. Index event_handled_pkey.
select entered from core.effect_enter($1::text, $2::tid[], $3::timestamptz, $4::timestamptz, $5::uuid[], $6::bigint[], $7::text[]) as entered
