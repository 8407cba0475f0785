import { maybe, str } from '../records.ts';
import { response } from '../reply.ts';

export { waiting } from '../params.ts';

/** The reply of work that has no record of its own. */
export const worked = response({ message: maybe(str()) });
