-- The history of the ladder.
insert into core.ladder_samples (hour, rows, latencies)
{{move_ladder_samples_rows}}
