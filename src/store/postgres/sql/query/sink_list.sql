-- The sinks and the store's now; the handlers as JSON. One row with nulls when there is none.
select s.name, s.kind, s.target, array_to_json(s.handlers)::text, s.state, s.changed_at, s.changed_by, s.reason, s.opened_at,
       s.open_until, s.open_reason, s.declared_at, n.now
from (select now()) n left join core.sinks s on true
order by s.name collate "C"
