import { arrayApi } from '@granary/contract/array';
import { operationsOf } from './operations.ts';

/** The operations of a block and file array. Loaded with the first page of an array. */
export const array = operationsOf(arrayApi);
