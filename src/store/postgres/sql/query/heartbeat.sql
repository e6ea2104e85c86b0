-- Renews claims; returns the ids whose claim was lost. Index outbox_pkey.
select lost from core.outbox_heartbeat($1::uuid[], $2::bigint[], $3::bigint[], $4::interval) as lost
