import type { Flavor } from '@granary/kernel';

/*
 * Ids of different things are different types: an id from a record of one kind is refused where another kind is wanted.
 * A number from a request is accepted as any of them; the repository finds out whether there is such a record.
 */
export type AccountId = Flavor<number, 'account'>;
export type ArrayId = Flavor<number, 'array'>;
export type CloudId = Flavor<number, 'cloud'>;
export type InterfaceId = Flavor<number, 'interface'>;
export type NetworkId = Flavor<number, 'network'>;
export type ProviderGroupId = Flavor<number, 'provider group'>;
export type ProviderId = Flavor<number, 'provider'>;
export type RequestId = Flavor<number, 'request'>;
export type TenantId = Flavor<number, 'tenant'>;
export type UserId = Flavor<number, 'user'>;
