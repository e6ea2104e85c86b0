-- The events of a slice, as they are in the other store: number, state, history.
insert into core.outbox (
       {{move_outbox_columns}})
{{move_outbox_rows}}
order by given.place
