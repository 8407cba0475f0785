import { arrayRefusals } from './array.ts';
import { objectsRefusals } from './objects.ts';
import { portalRefusals } from './portal.ts';

export { errorFamilies } from './families.ts';

/** Every message of a family, by its name. */
export const refusals = { ...portalRefusals, ...arrayRefusals, ...objectsRefusals };
