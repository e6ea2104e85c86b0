-- Records the handler for messages that have no claim. Index event_handled_pkey.
select entered from core.effect_enter_relayed($1::text, $2::uuid[], $3::text[]) as entered
