import { errorCatalogue, type Endpoint } from '@granary/contract';

/** Codes below are those every endpoint can give. */
const OWN_CODES = 100;
/** From here on a code says that work goes on. */
const SUBMITTED_CODES = 0x40000000;

/** Whether the contract says that the endpoint may answer with this code. */
export function isDeclared({ errors }: Endpoint, code: number): boolean {
  if (code < OWN_CODES || code >= SUBMITTED_CODES) return true;
  return errors.some((name) => errorCatalogue[name].code === code);
}
