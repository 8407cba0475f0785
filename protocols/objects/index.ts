export type * from './context.ts';
export { KEEP_ALIVE } from './keep-alive.ts';
export { BrokenManifestError, openStaticLargeObject } from './static-large-object.ts';
