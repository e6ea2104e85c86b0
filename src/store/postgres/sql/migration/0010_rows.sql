-- Rows that cost less to update: what a delivery leaves alone stands at the end, and fewer rules are evaluated.
--
-- For the operator: moving the two columns rewrites core.outbox and its indexes under an exclusive lock: the
-- time grows with the table (not measured), and it needs as much free disk as the table takes.

-- An update is logged from the first byte that differs to the last. With the payload and the key behind all that a
-- delivery changes, that is a third of a row and not nearly all of it. (With claim_seq and status at the end it would be
-- a fifth, but then every row that a scan passes has to be taken apart to its end: no gain was seen.)
drop trigger outbox_default_key on core.outbox;
drop trigger outbox_refuse_insert on core.outbox;
alter table core.outbox rename column idempotency_key to idempotency_key_before;
alter table core.outbox rename column payload to payload_before;
alter table core.outbox add column idempotency_key text not null default '', add column payload jsonb not null default '{}';
do $$
begin
    if exists (select from core.outbox) then
        alter table core.outbox alter column idempotency_key type text using idempotency_key_before,
                                alter column payload drop default, alter column payload type jsonb using payload_before;
    end if;
end
$$;
alter table core.outbox alter column idempotency_key drop default, alter column payload set default '{}',
    drop column idempotency_key_before, drop column payload_before;

-- A CHECK is evaluated by every update, twice per event; the guard refuses an unknown status as it refuses any other
-- illegal transition, so the rule is only needed on insert.
alter table core.outbox drop constraint outbox_status_known;
create or replace function core.outbox_complaint(p_event core.outbox) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_event.status not in ('pending', 'in_flight', 'delivered', 'failed') then
            'status must be pending, in_flight, delivered or failed'
        when octet_length(p_event.event_type) not between 1 and 255 then 'event_type must have 1 to 255 bytes'
        when p_event.event_version < 1 then 'event_version must be at least 1'
        when p_event.source !~ '^[a-z][a-z0-9_]*$' then 'source must be a context name: [a-z][a-z0-9_]*'
        when p_event.target !~ '^[a-z][a-z0-9_]*$' then 'target must be a context name, [a-z][a-z0-9_]*, or null for a broadcast'
        when octet_length(p_event.channel) not between 1 and 63 then 'channel must have 1 to 63 bytes'
        when p_event.generation < 1 then 'generation must be at least 1'
        when jsonb_typeof(p_event.payload) <> 'object' then 'payload must be a JSON object'
        when octet_length(p_event.idempotency_key) not between 1 and 255 then 'idempotency_key must have 1 to 255 bytes'
        when octet_length(p_event.ordering_key) not between 1 and 255 then 'ordering_key must have 1 to 255 bytes'
        when p_event.attempts < 0 then 'attempts must not be negative'
        when jsonb_typeof(p_event.failure_history) <> 'array' then 'failure_history must be a JSON array'
    end
$$;
create trigger outbox_default_key
    before insert on core.outbox
    for each row when (new.idempotency_key is null or new.status = 'failed' or new.failed_at is not null or new.cluster_id is not null)
    execute function core.outbox_default_key();
create trigger outbox_refuse_insert
    before insert on core.outbox
    for each row when (
        new.status not in ('pending', 'in_flight', 'delivered', 'failed')
        or octet_length(new.event_type) not between 1 and 255
        or new.event_version < 1
        or new.source !~ '^[a-z][a-z0-9_]*$'
        or new.target !~ '^[a-z][a-z0-9_]*$'
        or octet_length(new.channel) not between 1 and 63
        or new.generation < 1
        or jsonb_typeof(new.payload) <> 'object'
        or octet_length(new.idempotency_key) not between 1 and 255
        or octet_length(new.ordering_key) not between 1 and 255
        or new.attempts < 0
        or jsonb_typeof(new.failure_history) <> 'array')
    execute function core.outbox_refuse_insert();

-- An update compares every indexed column of the two versions, which takes a walk over the row for one in its middle
-- and nothing for a null: an event that any worker may go on with has no lane.
alter table core.outbox alter column lane drop not null, alter column lane drop default;
drop index core.outbox_waiting;
create index outbox_waiting on core.outbox (generation, coalesce(lane, ''), retry_after) where retry_after is not null;

-- Keys are compared for equality and kept together; the order of a language makes each comparison dearer.
alter table core.event_handled alter column handler_name type text collate "C", alter column idempotency_key type text collate "C";

-- A batch's list of numbers fits the page as it is; compressing it took 2 % of the server's time.
alter table core.claims alter column seqs set storage external;
alter table core.claims set (toast_tuple_target = 8160);
