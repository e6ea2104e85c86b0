-- Adds or replaces subscriptions; see core.subscribe.
select core.subscribe($1::bigint, $2::text[], $3::text::jsonb, $4::text[], $5::text[], $6::text)
