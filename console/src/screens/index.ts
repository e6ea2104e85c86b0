// The screens of the navigation, in its order.
import type { IconName } from '../components/Icon.svelte';

export interface Screen {
  path: string;
  title: string;
  icon: IconName;
  keys: string;
  apart?: boolean;
}

export const screens: Screen[] = [
  { path: '/', title: 'Overview', icon: 'overview', keys: 'g o' },
  { path: '/dlq', title: 'Dead letters', icon: 'dead', keys: 'g d' },
  { path: '/operations', title: 'Operations', icon: 'operations', keys: 'g r' },
  { path: '/events', title: 'Events', icon: 'events', keys: 'g e' },
  { path: '/generations', title: 'Generations', icon: 'generations', keys: 'g g', apart: true },
  { path: '/workers', title: 'Workers', icon: 'workers', keys: 'g w' },
  { path: '/sinks', title: 'Sinks', icon: 'sinks', keys: 'g s' },
  { path: '/storage', title: 'Storage', icon: 'storage', keys: 'g t' },
  { path: '/audit', title: 'Audit', icon: 'audit', keys: 'g a' },
];
