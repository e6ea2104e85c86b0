-- The history of the ladder.
select json_object(
  'hour', hour, 'rows', rows, 'latencies', json(latencies))
from ladder_samples order by hour
