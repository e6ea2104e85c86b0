-- Whether anybody can ever claim the events of a generation.
select core.generation_exists($1::bigint)
