// The documented HTTP API, and nothing else.
import { absolute } from './base';
import { health } from './health.svelte';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly hint = '',
    readonly field = '',
  ) {
    super(detail);
  }

  /** The daemon or its store did not answer; what is on the screen may still be true. */
  get isOutage(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 504;
  }
}

const tokenKey = 'sluice.token';
let onUnauthorized: () => void = () => {};

export const credentials = {
  get token(): string {
    return sessionStorage.getItem(tokenKey) ?? '';
  },
  keep(token: string): void {
    if (token === '') sessionStorage.removeItem(tokenKey);
    else sessionStorage.setItem(tokenKey, token);
  },
  whenRefused(listener: () => void): void {
    onUnauthorized = listener;
  },
};

const longestWait = 30_000;

function headers(body: unknown): Record<string, string> {
  const all: Record<string, string> = { accept: 'application/json', 'x-sluice-surface': 'console' };
  if (body !== undefined) all['content-type'] = 'application/json';
  if (credentials.token !== '') all['authorization'] = `Bearer ${credentials.token}`;
  return all;
}

async function problemOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { code, detail, title, hint, field } = JSON.parse(text) as Record<string, string>;
    return new ApiError(response.status, code ?? 'internal', detail ?? title ?? response.statusText, hint, field);
  } catch {
    return new ApiError(response.status, 'internal', `The server answered ${response.status} ${response.statusText}.`);
  }
}

async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const timeout = AbortSignal.timeout(longestWait);
  const waiting = health.waits();
  try {
    const response = await fetch(absolute(path), {
      method,
      headers: headers(body),
      cache: method === 'GET' ? 'no-cache' : 'no-store',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw await problemOf(response);
    const answer = (await response.json()) as T;
    health.answered();
    return answer;
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const error = toApiError(cause);
    if (error.status === 401) onUnauthorized();
    if (error.isOutage) health.failed(error.message);
    throw error;
  } finally {
    waiting.over();
  }
}

function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    return new ApiError(0, 'timeout', `No answer within ${longestWait / 1000} s.`);
  }
  return new ApiError(0, 'unreachable', 'Cannot reach the daemon.');
}

export const api = {
  get: <T>(path: string, signal?: AbortSignal) => request<T>('GET', path, undefined, signal),
  /** A text is JSON already: its numbers keep all their digits. */
  post: <T>(path: string, body: unknown = {}) => request<T>('POST', path, body),
};

/** `/v1/events?filter=…`, without empty parameters. */
export function address(path: string, params: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== '') query.set(name, String(value));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
