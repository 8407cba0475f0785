export type * from './context.ts';
export { BrokenManifestError, openStaticLargeObject } from './static-large-object.ts';
export { allowedReach } from './notification-hosts.ts';
