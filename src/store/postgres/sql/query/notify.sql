-- Notifies a channel by hand.
select pg_notify($1::text, $2::text)::text
