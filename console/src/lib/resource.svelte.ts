// Something that the API answers, kept fresh. An old answer stays on the screen while a new one is fetched, and
// also when fetching it fails.
import { untrack } from 'svelte';
import { ApiError, api } from './api';
import { live } from './live.svelte';

export interface Resource<T> {
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
  /** What came meanwhile and is held back until `accept()`. */
  readonly held: T | null;
  accept(): void;
  reload(): Promise<void>;
}

interface Options<T> {
  /** True: a refresh would move what the reader looks at, so it is held back. */
  holdBack?: (shown: T, fresh: T) => boolean;
  /** False: it does not change, so it is fetched once. */
  refresh?: boolean;
}

/** `address` is read reactively; null: nothing to fetch now. Call it while a component is set up. */
export function resource<T>(address: () => string | null, options: Options<T> = {}): Resource<T> {
  let data = $state.raw<T | null>(null);
  let held = $state.raw<T | null>(null);
  let error = $state.raw<ApiError | null>(null);
  let loading = $state(false);
  let shown: string | null = null;
  let running: AbortController | null = null;

  async function load(from: string, isRefresh: boolean): Promise<void> {
    running?.abort();
    const mine = (running = new AbortController());
    loading = true;
    try {
      const fresh = await api.get<T>(from, mine.signal);
      if (mine.signal.aborted) return;
      error = null;
      if (isRefresh && data !== null && options.holdBack?.(data, fresh)) held = fresh;
      else {
        data = fresh;
        held = null;
      }
    } catch (cause) {
      if (mine.signal.aborted) return;
      error = cause instanceof ApiError ? cause : new ApiError(0, 'internal', String(cause));
    } finally {
      if (running === mine) {
        running = null;
        loading = false;
      }
    }
  }

  $effect(() => {
    const from = address();
    untrack(() => {
      if (from === shown) return;
      const isOther = shown === null || from === null || shown.split('?')[0] !== from.split('?')[0];
      shown = from;
      held = null;
      error = null;
      if (isOther) data = null;
      if (from === null) running?.abort();
      else void load(from, false);
    });
  });

  let seen = live.beat;
  $effect(() => {
    const beat = live.beat;
    untrack(() => {
      if (beat === seen) return;
      seen = beat;
      // A slow answer is waited for, not asked for again.
      if (shown !== null && running === null && options.refresh !== false) void load(shown, true);
    });
  });

  $effect(() => () => running?.abort());

  return {
    get data() {
      return data;
    },
    get error() {
      return error;
    },
    get loading() {
      return loading;
    },
    get held() {
      return held;
    },
    accept() {
      if (held === null) return;
      data = held;
      held = null;
    },
    async reload() {
      if (shown !== null) await load(shown, false);
    },
  };
}
