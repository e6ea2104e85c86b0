-- What `sluice ladder partition` cannot take along, one sentence each.
select o from core.partition_obstacles() as o
