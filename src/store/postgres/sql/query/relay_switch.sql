-- Turns the relay on, to draining or off, audited.
select core.relay_switch($1::text, $2::text, $3::text, $4::text, $5::text)
