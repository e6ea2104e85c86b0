-- What the patrol has healed.
insert into core.stranded (at, event_id, event_type, generation, cause)
{{move_stranded_rows}}
