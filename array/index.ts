export { servedOperations } from './served.ts';
export { startArray } from './start.ts';
