// What the HTTP API answers, as far as the console reads it. Payloads are read as text only: `payload_text`.

export type Role = 'viewer' | 'operator' | 'admin';
export type Status = 'pending' | 'in_flight' | 'delivered' | 'failed';

export interface Me {
  name: string;
  role: Role;
  version: string;
  store: string;
  generation: number;
  tokens_required: boolean;
  read_only: boolean;
  capabilities: { listen: boolean };
}

export interface EventRow {
  event_id: string;
  event_type: string;
  event_version: number;
  occurred_at: string;
  source: string;
  target: string | null;
  workspace_id: string | null;
  idempotency_key: string;
  trace_context: string | null;
  status: Status;
  generation: number;
  channel: string;
  content_class: string;
  ordering_key: string | null;
  /** Failed ones, since the last replay. */
  attempts: number;
  /** Of a delivered event, also the one that succeeded. */
  attempts_made: number;
  last_error: string | null;
  error_class: string | null;
  fingerprint: string | null;
  first_failed_at: string | null;
  claimed_at: string | null;
  claimed_by: string | null;
  claim_seq: number;
  retry_after: string | null;
  published_at: string;
  delivered_at: string | null;
  failed_at: string | null;
  deleted_at: string | null;
}

export interface EventPage {
  events: EventRow[];
  next_cursor: string | null;
}

export interface Moment {
  at: string;
  what: string;
  detail: string;
}

export interface HandlerState {
  handler_name: string;
  state: 'handled' | 'out_of_attempts' | 'waiting' | 'set_aside';
  handled_at: string | null;
  attempts: number;
  due: string | null;
  last_error: string;
}

export interface Wait {
  what: 'sink' | 'time' | 'key' | 'subscriber' | 'worker' | 'claim';
  until: string | null;
  event_id: string | null;
  handlers: string[];
  detail: string;
}

export interface AuditRecord {
  id: number;
  at: string;
  actor: string;
  surface: string;
  reason: string;
  action: string;
  event_id: string | null;
  count: number;
  detail: Record<string, unknown>;
}

export type Action = 'replay' | 'discard' | 'restore';
/** What can be done to one event. */
export type EventAction = Action | 'run_now' | 'reschedule' | 'cancel' | 'replay_to' | 'resend' | 'edit_replay';

export interface Story extends EventRow {
  handlers: HandlerState[];
  waits_for: Wait[];
  audit: AuditRecord[];
  timeline: Moment[];
  actions: EventAction[];
  payload_text: string;
  /** The replays that changed the payload. */
  edited_by_replay: number[];
  trace_url: string | null;
  attempt_log: Attempt[];
}

/** An entry of the attempt log: the first and the latest are kept. */
export interface Attempt {
  number: number;
  replay: number;
  handler_name: string | null;
  worker: string;
  started_at: string;
  duration_ms: number;
  outcome: 'handled' | 'failed' | 'expired';
  status_code: number | null;
  error: string | null;
  response: string | null;
  trace_id: string | null;
}

export interface Histogram {
  from: string;
  bucket_seconds: number;
  counts: number[];
}

export interface Group {
  event_type: string;
  source: string;
  target: string | null;
  error_class: string;
  fingerprint: string;
  count: number;
  state: 'open' | 'acknowledged' | 'came_back';
  first_failed_at: string;
  last_failed_at: string;
  first_generation: number;
  last_generation: number;
  replayed: number;
  acknowledged_at: string | null;
  acknowledged_by: string;
  acknowledged_reason: string;
  came_back: number;
  came_back_generation: number | null;
  sample_error: string;
  histogram?: Histogram;
}

/** One fingerprint: its groups, when they failed, and what people said. */
export interface GroupStory {
  fingerprint: string;
  count: number;
  groups: Group[];
  histogram: Histogram | null;
  samples: EventRow[];
  comments: AuditRecord[];
}

export interface LadderTrigger {
  trigger: string;
  unit: 'rows' | 'seconds' | 'share';
  value: number | null;
  threshold: number;
  since: string | null;
  due: boolean;
  step: string;
}

export interface Ladder {
  stage: 'embedded' | 'one_table' | 'partitioned' | 'relayed';
  known_since: string;
  due: { step: string; command: string; cost: string } | null;
  why: string;
  triggers: LadderTrigger[];
}

export interface Preview {
  generation: number;
  examined: number;
  verdicts: Record<Verdict, number>;
  handlers: { handler_name: string; will_run: number; already_handled: number; live: boolean }[];
  sample: {
    event_id: string;
    event_type: string;
    verdict: Verdict;
    will_run: string[];
    handled: string[];
    why: string;
  }[];
}
export type Verdict = 'will_run' | 'already_handled' | 'no_live_worker' | 'nobody_subscribes' | 'payload_invalid';

/** Another operation under way that has events of this one before it. */
export interface Overlap {
  operation_id: string;
  filter: string;
  events: number;
}

export interface Forecast {
  kind: Action;
  count: number;
  capped: boolean;
  to_generation: number | null;
  overlaps: Overlap[];
  preview: Preview | null;
}

export type OperationState = 'planned' | 'running' | 'paused' | 'stopped' | 'cancelled' | 'finished';

export interface Operation {
  operation_id: string;
  kind: Action;
  state: OperationState;
  /** Of one that runs or is paused; settling: every event was taken. */
  phase: 'canary' | 'rest' | 'settling' | null;
  filter: string;
  to_generation: number | null;
  total: number;
  delivered: number;
  failed_again: number;
  skipped: number;
  changed: number;
  in_flight: number;
  remaining: number;
  rate: number;
  canary: number;
  stop_percent: number;
  /** On average since it started; null: not known yet. */
  per_second: number | null;
  /** Null: not known, or nothing moves. */
  eta_seconds: number | null;
  actor: string;
  surface: string;
  reason: string;
  note: string;
  executor: string;
  planned_at: string;
  expires_at: string;
  started_at: string | null;
  ended_at: string | null;
  /** Of a plan: operations under way that have the same events before them. */
  overlaps?: Overlap[];
}

export interface OperationItem {
  event_id: string;
  state: string;
  [member: string]: unknown;
}

export interface Generation {
  generation: number;
  /** None: events carry it although nobody allocated it. */
  state: 'allocated' | 'live' | 'draining' | 'retired' | null;
  note?: string;
  changed_by?: string;
  allocated_at?: string;
  activated_at?: string | null;
  draining_at?: string | null;
  retired_at?: string | null;
  pending: number;
  in_flight: number;
  failed: number;
  workers: number;
  abandoned: boolean;
  /** The figures that are estimates. */
  estimated: ('pending' | 'delivered' | 'failed')[];
}

export interface Worker {
  identity: string;
  generation: number;
  handlers: string[];
  listener: string;
  started_at: string;
  seen_at: string;
  alive: boolean;
}

export interface Subscription {
  generation: number;
  handler_name: string;
  event_types: string[];
  context: string | null;
  channel: string | null;
  registered_at: string;
  workers: number;
}

export interface Sink {
  name: string;
  kind: string;
  target: string;
  state: string;
  changed_at: string;
  changed_by: string;
  reason: string;
  opened_at: string | null;
  open_reason: string;
  /** This daemon delivers to it; the figures are its own. */
  served_here: boolean;
  in_flight: number;
  delivered: number;
  failed: number;
  success_rate: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  last_error: string | null;
  last_failed_at: string | null;
  resumes_at: string | null;
  subscriptions: string[];
}

export interface Attention {
  severity: 'critical' | 'warning' | 'info';
  id: string;
  title: string;
  detail: string;
  fix: string;
  link: string;
}

export interface Overview {
  now: string;
  tiles: {
    backlog: number;
    oldest_age_seconds: number | null;
    in_flight: number;
    waiting: number;
    dead: number;
    dead_capped: boolean;
    delivered_per_minute: number;
    failed_per_minute: number;
    notify_queue_percent: number | null;
  };
  series: HistoryChart;
  marks: { at: string; kind: 'generation' | 'replay'; text: string; link: string }[];
  sinks: { name: string; kind: string; state: string; open_until: string | null; why: string }[];
  attention: Attention[];
}
export type HistoryChart = { interval_seconds: number; times: number[] } & Record<SeriesName, (number | null)[]>;
export interface HistorySeries {
  kind: string;
  series: { name: string; delivered: number; failed: number }[];
}
export type SeriesName =
  | 'backlog'
  | 'lag_seconds'
  | 'published'
  | 'delivered'
  | 'replayed'
  | 'failed'
  | 'retried'
  | 'p50_ms'
  | 'p95_ms'
  | 'p99_ms'
  | 'later_p95_ms'
  | 'replay_p95_ms';

export interface Finding {
  id: string;
  severity: 'ok' | 'info' | 'warning' | 'critical';
  title: string;
  detail: string;
  fix: string;
}

/** A filter that the team keeps under a name. */
export interface SavedFilter {
  name: string;
  filter: string;
  saved_by: string;
  saved_at: string;
}
