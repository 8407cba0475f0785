export type * from './context.ts';
export { BrokenManifestError, openStaticLargeObject, type LargeObjectOptions } from './static-large-object.ts';
