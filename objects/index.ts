export { checkObjectStorage } from './check.ts';
export type { EngineCheck } from './engine/check.ts';
export { servedOperations } from './served.ts';
export { startObjects } from './start.ts';
