-- How many matching dead letters failed in each stretch of :step seconds from :from on (outbox_dead_group).
with kind (id) as materialized (
  select id from failure_groups
  where {{group_filter}}),
matching (failed_at) as not materialized (
  select failed_at
  from outbox indexed by outbox_dead_group
  where failed_at is not null and deleted_at is null
    and failed_at >= :since and (failed_at, seq) < (:before, :before_seq)
    and group_id in kind
{{dead_filter}})
select (cast(strftime('%s', failed_at) as integer) - :from) / :step as place, count(*)
from matching
group by place
