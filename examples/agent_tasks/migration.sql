-- Agent tasks: business state only. That a task waits for a worker is an event in core.outbox, written in the
-- transaction that changes the task; this table knows nothing about claims, retries or dead letters.
--
-- Run after `sluice db migrate`, once.
create schema if not exists platform;

create table platform.agent_tasks (
    id               uuid primary key,
    conversation_id  uuid not null,
    instruction      text not null,
    status           text not null default 'queued'
                     check (status in ('queued', 'awaiting_approval', 'approved', 'done', 'rejected')),
    -- A person has to look at the result before it is used. Who did, and when.
    needs_approval   boolean not null default false,
    approved_by      text,
    approved_at      timestamptz,
    -- The event that asked for the first run; also the conversation's trigger_event_id.
    trigger_event_id uuid not null,
    result_id        uuid,
    created_at       timestamptz not null default now(),
    executed_at      timestamptz,
    finished_at      timestamptz,
    -- Finished tasks are kept this long.
    retention        interval not null default '90 days',
    check ((approved_by is null) = (approved_at is null)),
    check (status not in ('awaiting_approval', 'approved', 'done') or result_id is not null),
    check ((status in ('done', 'rejected')) = (finished_at is not null))
);

create index agent_tasks_of_conversation on platform.agent_tasks (conversation_id, created_at);
create index agent_tasks_finished on platform.agent_tasks (finished_at) where finished_at is not null;

-- One row per execution: two for one task would be a task that ran twice.
create table platform.agent_results (
    id            uuid primary key default gen_random_uuid(),
    agent_task_id uuid not null references platform.agent_tasks on delete cascade,
    body          text not null,
    created_at    timestamptz not null default now()
);

-- The newest messages first, as the conversation shows them.
create table platform.conversation_messages (
    id              bigint generated always as identity primary key,
    conversation_id uuid not null,
    agent_task_id   uuid not null references platform.agent_tasks on delete cascade,
    body            text not null
);

-- Removes finished tasks whose retention has passed, at most p_limit; returns how many.
create function platform.sweep_agent_tasks(p_limit int default 1000) returns bigint
language sql volatile
as $$
    with swept as (
        delete from platform.agent_tasks
        where id in (select id from platform.agent_tasks
                     where finished_at + retention < now()
                     order by finished_at
                     limit p_limit
                     for update skip locked)
        returning 1)
    select count(*) from swept
$$;
