CREATE SEQUENCE core.outbox_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE core.outbox (
    id uuid DEFAULT core.uuid_v7() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('core.outbox_seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    generation bigint NOT NULL,
    claim_seq bigint DEFAULT 0 NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    event_version integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failure_history jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    channel text DEFAULT 'outbox_default'::text NOT NULL,
    event_type text NOT NULL,
    source text NOT NULL,
    target text,
    content_class text DEFAULT 'default'::text NOT NULL,
    ordering_key text,
    workspace_id uuid,
    trace_context text,
    claimed_at timestamp with time zone,
    claimed_by text,
    delivered_at timestamp with time zone,
    retry_after timestamp with time zone,
    blocked_since timestamp with time zone,
    first_failed_at timestamp with time zone,
    last_error text,
    failure_class text,
    fingerprint text,
    deleted_at timestamp with time zone,
    progress jsonb,
    lane text,
    failed_at timestamp with time zone,
    group_id bigint,
    restored_at timestamp with time zone,
    idempotency_key text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL
)
PARTITION BY RANGE (occurred_at);
COMMENT ON TABLE core.outbox IS 'Events through their whole life: pending, in_flight, delivered, failed';
CREATE TABLE core.outbox_2100_01 (
    id uuid DEFAULT core.uuid_v7() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('core.outbox_seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    generation bigint NOT NULL,
    claim_seq bigint DEFAULT 0 NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    event_version integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failure_history jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    channel text DEFAULT 'outbox_default'::text NOT NULL,
    event_type text NOT NULL,
    source text NOT NULL,
    target text,
    content_class text DEFAULT 'default'::text NOT NULL,
    ordering_key text,
    workspace_id uuid,
    trace_context text,
    claimed_at timestamp with time zone,
    claimed_by text,
    delivered_at timestamp with time zone,
    retry_after timestamp with time zone,
    blocked_since timestamp with time zone,
    first_failed_at timestamp with time zone,
    last_error text,
    failure_class text,
    fingerprint text,
    deleted_at timestamp with time zone,
    progress jsonb,
    lane text,
    failed_at timestamp with time zone,
    group_id bigint,
    restored_at timestamp with time zone,
    idempotency_key text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL
)
WITH (fillfactor='30', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
CREATE TABLE core.outbox_default (
    id uuid DEFAULT core.uuid_v7() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('core.outbox_seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    generation bigint NOT NULL,
    claim_seq bigint DEFAULT 0 NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    event_version integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failure_history jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    channel text DEFAULT 'outbox_default'::text NOT NULL,
    event_type text NOT NULL,
    source text NOT NULL,
    target text,
    content_class text DEFAULT 'default'::text NOT NULL,
    ordering_key text,
    workspace_id uuid,
    trace_context text,
    claimed_at timestamp with time zone,
    claimed_by text,
    delivered_at timestamp with time zone,
    retry_after timestamp with time zone,
    blocked_since timestamp with time zone,
    first_failed_at timestamp with time zone,
    last_error text,
    failure_class text,
    fingerprint text,
    deleted_at timestamp with time zone,
    progress jsonb,
    lane text,
    failed_at timestamp with time zone,
    group_id bigint,
    restored_at timestamp with time zone,
    idempotency_key text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL
)
WITH (fillfactor='30', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
CREATE TABLE core.outbox_until_2100_01 (
    id uuid DEFAULT core.uuid_v7() NOT NULL,
    seq bigint DEFAULT 
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN nextval('core.outbox_seq'::regclass)
    ELSE NULL::bigint
END NOT NULL,
    generation bigint NOT NULL,
    claim_seq bigint DEFAULT 0 NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    event_version integer DEFAULT 1 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    failure_history jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    channel text DEFAULT 'outbox_default'::text NOT NULL,
    event_type text NOT NULL,
    source text NOT NULL,
    target text,
    content_class text DEFAULT 'default'::text NOT NULL,
    ordering_key text,
    workspace_id uuid,
    trace_context text,
    claimed_at timestamp with time zone,
    claimed_by text,
    delivered_at timestamp with time zone,
    retry_after timestamp with time zone,
    blocked_since timestamp with time zone,
    first_failed_at timestamp with time zone,
    last_error text,
    failure_class text,
    fingerprint text,
    deleted_at timestamp with time zone,
    progress jsonb,
    lane text,
    failed_at timestamp with time zone,
    group_id bigint,
    restored_at timestamp with time zone,
    idempotency_key text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL
)
WITH (fillfactor='30', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
COMMENT ON TABLE core.outbox_until_2100_01 IS 'Events through their whole life: pending, in_flight, delivered, failed';
ALTER TABLE ONLY core.outbox ATTACH PARTITION core.outbox_2100_01 FOR VALUES FROM ('2100-01-01 00:00:00+00') TO ('2100-02-01 00:00:00+00');
ALTER TABLE ONLY core.outbox ATTACH PARTITION core.outbox_default DEFAULT;
ALTER TABLE ONLY core.outbox ATTACH PARTITION core.outbox_until_2100_01 FOR VALUES FROM (MINVALUE) TO ('2100-01-01 00:00:00+00');
ALTER TABLE ONLY core.outbox_2100_01
    ADD CONSTRAINT outbox_2100_01_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.outbox_default
    ADD CONSTRAINT outbox_default_pkey PRIMARY KEY (id);
ALTER TABLE ONLY core.outbox_until_2100_01
    ADD CONSTRAINT outbox_until_2100_01_pkey PRIMARY KEY (id);
CREATE INDEX outbox_age ON ONLY core.outbox USING btree (GREATEST(published_at, failed_at, restored_at)) WHERE ((deleted_at IS NULL) AND (published_at IS NOT NULL));
CREATE INDEX outbox_2100_01_age ON core.outbox_2100_01 USING btree (GREATEST(published_at, failed_at, restored_at)) WHERE ((deleted_at IS NULL) AND (published_at IS NOT NULL));
CREATE INDEX outbox_dead ON ONLY core.outbox USING btree (failed_at, seq) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_2100_01_dead ON core.outbox_2100_01 USING btree (failed_at, seq) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_dead_groups ON ONLY core.outbox USING btree (group_id, failed_at, seq, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_2100_01_dead_groups ON core.outbox_2100_01 USING btree (group_id, failed_at, seq, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_dead_kinds ON ONLY core.outbox USING btree (group_id, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_2100_01_dead_kinds ON core.outbox_2100_01 USING btree (group_id, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_keyed ON ONLY core.outbox USING btree (((seq + 0))) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_2100_01_keyed ON core.outbox_2100_01 USING btree (((seq + 0))) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_ordering ON ONLY core.outbox USING btree (ordering_key, seq) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_2100_01_ordering ON core.outbox_2100_01 USING btree (ordering_key, seq) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_scan ON ONLY core.outbox USING btree (generation, seq);
CREATE INDEX outbox_2100_01_scan ON core.outbox_2100_01 USING btree (generation, seq);
CREATE INDEX outbox_tombstones ON ONLY core.outbox USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outbox_2100_01_tombstones ON core.outbox_2100_01 USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outbox_waiting ON ONLY core.outbox USING btree (generation, COALESCE(lane, ''::text), retry_after) WHERE (retry_after IS NOT NULL);
CREATE INDEX outbox_2100_01_waiting ON core.outbox_2100_01 USING btree (generation, COALESCE(lane, ''::text), retry_after) WHERE (retry_after IS NOT NULL);
CREATE INDEX outbox_waiting_keys ON ONLY core.outbox USING btree (ordering_key, seq) WHERE ((ordering_key IS NOT NULL) AND (retry_after IS NOT NULL));
CREATE INDEX outbox_2100_01_waiting_keys ON core.outbox_2100_01 USING btree (ordering_key, seq) WHERE ((ordering_key IS NOT NULL) AND (retry_after IS NOT NULL));
CREATE INDEX outbox_default_age ON core.outbox_default USING btree (GREATEST(published_at, failed_at, restored_at)) WHERE ((deleted_at IS NULL) AND (published_at IS NOT NULL));
CREATE INDEX outbox_default_dead ON core.outbox_default USING btree (failed_at, seq) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_default_dead_groups ON core.outbox_default USING btree (group_id, failed_at, seq, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_default_dead_kinds ON core.outbox_default USING btree (group_id, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_default_keyed ON core.outbox_default USING btree (((seq + 0))) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_default_ordering ON core.outbox_default USING btree (ordering_key, seq) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_default_scan ON core.outbox_default USING btree (generation, seq);
CREATE INDEX outbox_default_tombstones ON core.outbox_default USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outbox_default_waiting ON core.outbox_default USING btree (generation, COALESCE(lane, ''::text), retry_after) WHERE (retry_after IS NOT NULL);
CREATE INDEX outbox_default_waiting_keys ON core.outbox_default USING btree (ordering_key, seq) WHERE ((ordering_key IS NOT NULL) AND (retry_after IS NOT NULL));
CREATE INDEX outbox_until_2100_01_age ON core.outbox_until_2100_01 USING btree (GREATEST(published_at, failed_at, restored_at)) WHERE ((deleted_at IS NULL) AND (published_at IS NOT NULL));
CREATE INDEX outbox_until_2100_01_dead ON core.outbox_until_2100_01 USING btree (failed_at, seq) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_until_2100_01_dead_groups ON core.outbox_until_2100_01 USING btree (group_id, failed_at, seq, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_until_2100_01_dead_kinds ON core.outbox_until_2100_01 USING btree (group_id, generation) WHERE ((failed_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX outbox_until_2100_01_keyed ON core.outbox_until_2100_01 USING btree (((seq + 0))) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_until_2100_01_ordering ON core.outbox_until_2100_01 USING btree (ordering_key, seq) WHERE (ordering_key IS NOT NULL);
CREATE INDEX outbox_until_2100_01_scan ON core.outbox_until_2100_01 USING btree (generation, seq);
CREATE INDEX outbox_until_2100_01_tombstones ON core.outbox_until_2100_01 USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outbox_until_2100_01_waiting ON core.outbox_until_2100_01 USING btree (generation, COALESCE(lane, ''::text), retry_after) WHERE (retry_after IS NOT NULL);
CREATE INDEX outbox_until_2100_01_waiting_keys ON core.outbox_until_2100_01 USING btree (ordering_key, seq) WHERE ((ordering_key IS NOT NULL) AND (retry_after IS NOT NULL));
ALTER INDEX core.outbox_age ATTACH PARTITION core.outbox_2100_01_age;
ALTER INDEX core.outbox_dead ATTACH PARTITION core.outbox_2100_01_dead;
ALTER INDEX core.outbox_dead_groups ATTACH PARTITION core.outbox_2100_01_dead_groups;
ALTER INDEX core.outbox_dead_kinds ATTACH PARTITION core.outbox_2100_01_dead_kinds;
ALTER INDEX core.outbox_keyed ATTACH PARTITION core.outbox_2100_01_keyed;
ALTER INDEX core.outbox_ordering ATTACH PARTITION core.outbox_2100_01_ordering;
ALTER INDEX core.outbox_scan ATTACH PARTITION core.outbox_2100_01_scan;
ALTER INDEX core.outbox_tombstones ATTACH PARTITION core.outbox_2100_01_tombstones;
ALTER INDEX core.outbox_waiting ATTACH PARTITION core.outbox_2100_01_waiting;
ALTER INDEX core.outbox_waiting_keys ATTACH PARTITION core.outbox_2100_01_waiting_keys;
ALTER INDEX core.outbox_age ATTACH PARTITION core.outbox_default_age;
ALTER INDEX core.outbox_dead ATTACH PARTITION core.outbox_default_dead;
ALTER INDEX core.outbox_dead_groups ATTACH PARTITION core.outbox_default_dead_groups;
ALTER INDEX core.outbox_dead_kinds ATTACH PARTITION core.outbox_default_dead_kinds;
ALTER INDEX core.outbox_keyed ATTACH PARTITION core.outbox_default_keyed;
ALTER INDEX core.outbox_ordering ATTACH PARTITION core.outbox_default_ordering;
ALTER INDEX core.outbox_scan ATTACH PARTITION core.outbox_default_scan;
ALTER INDEX core.outbox_tombstones ATTACH PARTITION core.outbox_default_tombstones;
ALTER INDEX core.outbox_waiting ATTACH PARTITION core.outbox_default_waiting;
ALTER INDEX core.outbox_waiting_keys ATTACH PARTITION core.outbox_default_waiting_keys;
ALTER INDEX core.outbox_age ATTACH PARTITION core.outbox_until_2100_01_age;
ALTER INDEX core.outbox_dead ATTACH PARTITION core.outbox_until_2100_01_dead;
ALTER INDEX core.outbox_dead_groups ATTACH PARTITION core.outbox_until_2100_01_dead_groups;
ALTER INDEX core.outbox_dead_kinds ATTACH PARTITION core.outbox_until_2100_01_dead_kinds;
ALTER INDEX core.outbox_keyed ATTACH PARTITION core.outbox_until_2100_01_keyed;
ALTER INDEX core.outbox_ordering ATTACH PARTITION core.outbox_until_2100_01_ordering;
ALTER INDEX core.outbox_scan ATTACH PARTITION core.outbox_until_2100_01_scan;
ALTER INDEX core.outbox_tombstones ATTACH PARTITION core.outbox_until_2100_01_tombstones;
ALTER INDEX core.outbox_waiting ATTACH PARTITION core.outbox_until_2100_01_waiting;
ALTER INDEX core.outbox_waiting_keys ATTACH PARTITION core.outbox_until_2100_01_waiting_keys;
CREATE TRIGGER outbox_default_key BEFORE INSERT ON core.outbox FOR EACH ROW WHEN (((new.idempotency_key IS NULL) OR (new.channel = 'outbox_default'::text) OR (new.status = 'failed'::text) OR (new.failed_at IS NOT NULL) OR (new.group_id IS NOT NULL))) EXECUTE FUNCTION core.outbox_default_key();
CREATE TRIGGER outbox_guard AFTER UPDATE ON core.outbox FOR EACH ROW WHEN ((NOT ((((old.status = 'pending'::text) AND (new.status = 'in_flight'::text) AND (new.claim_seq = (old.claim_seq + 1))) OR ((old.status = 'in_flight'::text) AND (new.status = 'delivered'::text) AND (new.claim_seq = old.claim_seq) AND ((new.ordering_key IS NULL) OR (COALESCE(current_setting('sluice.keys'::text, true), ''::text) = 'released by batch'::text)))) AND (old.deleted_at IS NULL) AND (new.deleted_at IS NULL) AND (new.id = old.id) AND (new.seq = old.seq)))) EXECUTE FUNCTION core.outbox_guard();
CREATE TRIGGER outbox_guard_delete AFTER DELETE ON core.outbox FOR EACH ROW WHEN (((old.ordering_key IS NOT NULL) AND (old.status = ANY (ARRAY['pending'::text, 'in_flight'::text])))) EXECUTE FUNCTION core.outbox_guard_delete();
CREATE TRIGGER outbox_notify AFTER INSERT ON core.outbox FOR EACH ROW EXECUTE FUNCTION core.outbox_notify();
CREATE TRIGGER outbox_once BEFORE INSERT ON core.outbox FOR EACH ROW WHEN ((current_setting('sluice.ids_checked'::text, true) IS DISTINCT FROM (statement_timestamp())::text)) EXECUTE FUNCTION core.outbox_once();
CREATE TRIGGER outbox_refuse_insert BEFORE INSERT ON core.outbox FOR EACH ROW WHEN (((new.status <> ALL (ARRAY['pending'::text, 'in_flight'::text, 'delivered'::text, 'failed'::text])) OR ((octet_length(new.event_type) < 1) OR (octet_length(new.event_type) > 255)) OR (new.event_type !~ '^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$'::text) OR (new.event_version < 1) OR (new.source !~ '^[a-z][a-z0-9_]*$'::text) OR (new.target !~ '^[a-z][a-z0-9_]*$'::text) OR ((octet_length(new.channel) < 1) OR (octet_length(new.channel) > 63)) OR (new.generation < 1) OR (jsonb_typeof(new.payload) <> 'object'::text) OR ((octet_length(new.idempotency_key) < 1) OR (octet_length(new.idempotency_key) > 255)) OR ((octet_length(new.ordering_key) < 1) OR (octet_length(new.ordering_key) > 255)) OR (new.trace_context !~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$'::text) OR (new.attempts < 0) OR (jsonb_typeof(new.failure_history) <> 'array'::text) OR
        CASE
            WHEN (pg_column_size((new.payload || '{}'::jsonb)) > 8000) THEN true
            ELSE (octet_length((new.payload)::text) > 8000)
        END)) EXECUTE FUNCTION core.outbox_refuse_insert();
