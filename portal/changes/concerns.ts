import type { portalApi, portalEventKinds } from '@granary/contract/portal';
import type { Concerns } from '@granary/kernel';

type Group = keyof (typeof portalApi)['groups'];
type Kind = (typeof portalEventKinds)[number];

/** Which groups' records events and jobs are about, and which change with which. */
export const concerns: Concerns<Kind, Group> = {
  kinds: {
    array: ['arrays'],
    cloud: ['clouds', 'driveTypes'],
    compute: ['computes'],
    provider: ['pricing', 'providers'],
    provider_group: ['providerGroups'],
    request: ['arrayRequests', 'arrays', 'computes', 'objectAccounts'],
    settings: ['settings'],
    user: ['me', 'sessions', 'users'],
    virtual_network: ['virtualNetworks'],
    vlan: ['vlans'],
    webhook: ['webhooks'],
  },
  related: {
    arrayRequests: ['arrays', 'overview'],
    // An array opens and removes its accounts, and what they hold is known while it answers.
    arrays: ['arrayRequests', 'objectAccounts', 'overview'],
    computes: ['arrayRequests', 'tenants'],
    objectAccounts: ['arrayRequests', 'arrays'],
    publicObjects: ['arrays'],
    virtualNetworks: ['vlans'],
  },
  events: 'events',
};
