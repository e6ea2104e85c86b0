// Who is looking, and what they may do.
import { ApiError, api, credentials } from './api';
import type { Me, Role } from './types';

let me = $state.raw<Me | null>(null);
let refused = $state(false);
let error = $state.raw<ApiError | null>(null);

const ranks: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 };

export const session = {
  get me(): Me | null {
    return me;
  },
  /** The daemon wants a token, or another one. */
  get asksForToken(): boolean {
    return refused;
  },
  get error(): ApiError | null {
    return error;
  },
  may(role: Role): boolean {
    return me !== null && !me.read_only && ranks[me.role] >= ranks[role];
  },
  async begin(): Promise<void> {
    try {
      me = await api.get<Me>('/v1/me');
      refused = false;
      error = null;
    } catch (cause) {
      if (cause instanceof ApiError && cause.status !== 401) error = cause;
    }
  },
  async signIn(token: string): Promise<boolean> {
    credentials.keep(token);
    await session.begin();
    return !refused;
  },
  signOut(): void {
    credentials.keep('');
    me = null;
    refused = true;
  },
};

credentials.whenRefused(() => {
  me = null;
  refused = true;
});
