-- One thing that the partitions need; see core.partition_upkeep.
select action, name, count
from core.partition_upkeep($1::interval, $2::interval, $3::interval, $4::interval, $5::int, $6::boolean, $7::text, $8::text, $9::text)
