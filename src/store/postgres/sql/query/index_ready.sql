-- Whether the search index $1 is there, valid and complete on every partition.
select exists (select from pg_index i where i.indexrelid = to_regclass('core.outbox_' || $1::text)
                 and i.indrelid = to_regclass('core.outbox') and i.indisvalid)
   and not exists (select from pg_inherits h join pg_index i on i.indexrelid = h.inhrelid
                   where h.inhparent = to_regclass('core.outbox_' || $1::text) and not i.indisvalid)
