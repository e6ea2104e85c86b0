-- Opens or closes the circuit of a sink; see core.sink_circuit.
select name, kind, target, array_to_json(handlers)::text, state, changed_at, changed_by, reason, opened_at, open_until,
       open_reason, declared_at
from core.sink_circuit($1::text, $2::interval, $3::text, $4::text, $5::text)
