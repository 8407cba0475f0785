import type { Api } from '../endpoint.ts';
import { arrays } from './arrays.ts';
import { billing } from './billing.ts';
import { changes } from './changes.ts';
import { clouds, driveTypes } from './clouds.ts';
import { events } from './events.ts';
import { forecasts } from './forecasts.ts';
import { me } from './me.ts';
import { virtualNetworks, vlans } from './networks.ts';
import { objectAccounts, publicObjects } from './object-accounts.ts';
import { overview } from './overview.ts';
import { pricing } from './pricing.ts';
import { providerGroups, providers } from './providers.ts';
import { arrayRequests } from './requests.ts';
import { search } from './search.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { computes, tenants } from './tenants.ts';
import { tokens } from './tokens.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';

export const portalApi = {
  name: 'portal',
  title: 'Granary portal',
  description:
    'Order, resize, hibernate, restore and delete storage arrays; manage clouds, prices, networks and bills.',
  dialect: 'portal',
  groups: {
    tokens,
    sessions,
    me,
    users,
    clouds,
    driveTypes,
    providers,
    providerGroups,
    pricing,
    arrays,
    arrayRequests,
    publicObjects,
    objectAccounts,
    computes,
    tenants,
    vlans,
    virtualNetworks,
    billing,
    overview,
    forecasts,
    search,
    events,
    changes,
    settings,
    webhooks,
  },
} as const satisfies Api;

export * from './access.ts';
export * from './array-records.ts';
export { countedStates, denialMessage, denialReason } from './denied-order.ts';
export { portalEventKinds } from '../event-kinds.ts';
export { Cloud, DriveType } from './clouds.ts';
export { VirtualNetwork, Vlan } from './networks.ts';
export { ObjectAccount } from './object-accounts.ts';
export { priceKinds, type PriceKind } from './pricing.ts';
export { Overview } from './overview.ts';
export { Provider, ProviderGroup } from './providers.ts';
export { ArrayRequest, requestKinds, requestStates, type RequestKind } from './requests.ts';
export { Compute, Tenant } from './tenants.ts';
export { User } from './users.ts';
