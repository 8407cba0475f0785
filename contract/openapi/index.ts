export { type DocumentOptions, openApiDocument } from './document.ts';
export type { OpenApiDocument } from './types.ts';
