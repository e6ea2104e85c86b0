// What can be done to a generation, by its state.
import type { Generation } from './types';

export type GenerationStep = 'allocate' | 'activate' | 'drain' | 'reroute' | 'retire';

export function stepsOf({ state, pending }: Generation): GenerationStep[] {
  switch (state) {
    case 'allocated':
      return ['activate'];
    case 'live':
      return ['drain'];
    case 'draining':
      return pending > 0 ? ['activate', 'reroute', 'retire'] : ['activate', 'retire'];
    case 'retired':
      return [];
    case null:
      return pending > 0 ? ['reroute'] : [];
  }
}

export const stepWords: Record<GenerationStep, string> = {
  allocate: 'Allocate',
  activate: 'Activate',
  drain: 'Drain',
  reroute: 'Reroute',
  retire: 'Retire',
};

export const stepMeaning: Record<GenerationStep, string> = {
  allocate: 'Gives the next number. Nothing is published to it until it is activated.',
  activate: 'Publishers that do not name a generation get the newest live one.',
  drain: 'Publishers no longer get it; its workers finish what is left.',
  reroute: 'Moves its pending events to another generation, whose workers then take them.',
  retire: 'Ends it. Refused while events are left or its workers live.',
};

/** When it came into its present state. */
export function since(generation: Generation): string | null {
  return generation.retired_at ?? generation.draining_at ?? generation.activated_at ?? generation.allocated_at ?? null;
}
