export { type ArrayCheck, checkArray } from './check/check-array.ts';
export { servedOperations } from './served.ts';
export { startArray } from './start.ts';
