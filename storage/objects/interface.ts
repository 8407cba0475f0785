/**
 * What an object store is, whatever keeps its bytes: records, reads, changes and their errors. Protocols and management
 * import this (`@granary/storage/object-store`); `index.ts` is the store that the embedded engine is built from.
 */
export type * from './bucket-settings.ts';
export { decryptor, encryptor } from './counter-mode.ts';
export { ObjectError, type ObjectErrorCode } from './errors.ts';
export {
  expiryOf,
  isExpired,
  markerExpiryOf,
  noncurrentExpiryOf,
  noncurrentPolicyDue,
  policyDue,
  uploadExpiryOf,
  type Expiry,
} from './lifecycle.ts';
export { notificationsOf, wantsEvent } from './notifications.ts';
export type * from './notifications.ts';
export type * from './object-store.ts';
export type * from './operations.ts';
export { findPolicyNamed, policyIdOf } from './policy-names.ts';
export type * from './records.ts';
export { withoutSeal } from './seal.ts';
