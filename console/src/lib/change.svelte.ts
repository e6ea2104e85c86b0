// A bulk change on its way: scope, dry run, frozen plan, running operation. Which step is shown follows from
// what is known.
import { ApiError, api } from './api';
import { isExpired } from './operations';
import type { Scope } from './selection';
import type { Action, Forecast, Operation, Preview } from './types';

/** The server wants to hear that every dead letter is meant, not conclude it from an empty filter. */
function request(scope: Scope): Record<string, unknown> {
  if ('event_ids' in scope) return { event_ids: scope.event_ids };
  const which = scope.filter === '' ? { all: true } : { filter: scope.filter };
  return scope.except.length > 0 ? { ...which, except: scope.except } : which;
}

export type Step = 'scope' | 'dry run' | 'run' | 'watch';

export class BulkChange {
  readonly kind: Action;
  readonly scope: Scope;
  toGeneration = $state<number | undefined>(undefined);
  rate = $state(0);
  canary = $state(0);
  stopPercent = $state(20);
  reason = $state('');

  step = $state<Step>('scope');
  forecast = $state.raw<Forecast | null>(null);
  operation = $state.raw<Operation | null>(null);
  preview = $state.raw<Preview | null>(null);
  busy = $state(false);
  error = $state.raw<ApiError | null>(null);

  constructor(kind: Action, scope: Scope) {
    this.kind = kind;
    this.scope = scope;
  }

  /** Goes on with an operation that an address names: a plan that can still be started, or one under way. */
  async resume(id: string): Promise<void> {
    await this.#attempt(async () => {
      const operation = await api.get<Operation>(`/v1/operations/${id}`);
      return () => {
        if (operation.kind !== this.kind || isExpired(operation, Date.now())) return;
        this.operation = operation;
        this.canary = operation.canary;
        this.rate = operation.rate;
        this.stopPercent = operation.stop_percent;
        this.step = operation.state === 'planned' ? 'run' : 'watch';
      };
    });
  }

  async look(): Promise<void> {
    await this.#attempt(async () => {
      const forecast = await api.post<Forecast>('/v1/plans', { ...this.#wanted(), dry_run: true });
      return () => {
        this.forecast = forecast;
        this.preview = forecast.preview;
        this.step = 'dry run';
      };
    });
  }

  /** Freezes the set: from here on the number is exact. */
  async freeze(): Promise<void> {
    await this.#attempt(async () => {
      const plan = await api.post<Operation & { preview: Preview | null }>('/v1/plans', this.#wanted());
      return () => {
        this.operation = plan;
        this.preview = plan.preview ?? this.preview;
        if (this.kind === 'replay' && this.canary === 0 && plan.total > 20) this.canary = 10;
        this.step = 'run';
      };
    });
  }

  async start(): Promise<void> {
    const plan = this.operation;
    if (!plan) return;
    await this.#attempt(async () => {
      const settings =
        this.kind === 'replay' ? { rate: this.rate, canary: this.canary, stop_percent: this.stopPercent } : {};
      const body = { count: plan.total, reason: this.reason.trim(), ...settings };
      const started = await api.post<Operation>(`/v1/operations/${plan.operation_id}/start`, body);
      return () => {
        this.operation = started;
        this.step = 'watch';
      };
    });
  }

  back(): void {
    this.error = null;
    this.operation = null;
    this.step = this.step === 'run' ? 'dry run' : 'scope';
  }

  #wanted(): Record<string, unknown> {
    const generation =
      this.kind === 'replay' && this.toGeneration !== undefined ? { to_generation: this.toGeneration } : {};
    return { kind: this.kind, ...request(this.scope), ...generation };
  }

  /** What follows from the answer happens when nothing is busy any more, so that the next step can take the focus. */
  async #attempt(work: () => Promise<() => void>): Promise<void> {
    this.busy = true;
    this.error = null;
    try {
      const follow = await work();
      this.busy = false;
      follow();
    } catch (cause) {
      this.busy = false;
      this.error = cause instanceof ApiError ? cause : new ApiError(0, 'internal', String(cause));
    }
  }
}
