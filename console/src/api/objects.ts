import { objectsApi } from '@granary/contract/objects';
import { operationsOf } from './operations.ts';

/** The operations of an object storage array. Loaded with the first page of one. */
export const objects = operationsOf(objectsApi);
