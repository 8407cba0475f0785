import type { objectsApi, objectsEventKinds } from '@granary/contract/objects';
import type { Concerns } from '@granary/kernel';

type Group = keyof (typeof objectsApi)['groups'];
type Kind = (typeof objectsEventKinds)[number];

/** Which groups' records events and jobs are about, and which change with which. */
export const concerns: Concerns<Kind, Group> = {
  kinds: {
    account: ['accounts', 'users'],
    array: ['drives', 'policies', 'sessions', 'settings', 'virtualControllers'],
    bucket: ['accounts'],
    controller: ['virtualControllers'],
    drive: ['drives'],
    expiry: [],
    object: [],
    policy: ['drives', 'policies'],
    remote_endpoint: ['destinations'],
    request: ['requests'],
    requests: ['requests'],
    settings: ['settings'],
    user: ['users'],
    webhook: ['webhooks'],
  },
  related: {
    accounts: ['users'],
    drives: ['policies'],
    policies: ['drives'],
    requests: ['accounts', 'users'],
    users: ['accounts'],
    virtualControllers: ['loadBalancerGroups'],
  },
  events: 'messages',
};
