import type { ObjectsTools } from './services.ts';

/** What accounts, users and their mail are built from: no more of the data path than its figures and its changes. */
export type PeopleTools = Pick<
  ObjectsTools,
  | 'store'
  | 'vault'
  | 'clock'
  | 'events'
  | 'jobs'
  | 'log'
  | 'changed'
  | 'commit'
  | 'figures'
  | 'publicUrls'
  | 'configuration'
>;
