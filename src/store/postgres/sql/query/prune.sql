-- Forgets marks and groups of failures that stand for nothing any more; see core.prune.
select cursors, failure_groups from core.prune($1::text[], $2::interval)
