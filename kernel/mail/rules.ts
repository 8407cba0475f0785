import { badParameter, fail, GranaryError } from '../errors.ts';
import { outgoingAddress, parseHostAndPort } from '../net/outgoing.ts';

const ADDRESS = /^[^@\s,;<>"]+@[^@\s,;<>"]+$/;
const ANY_PORT = 25;
const RECIPIENTS_MAX = 20;

export function isMailAddress(address: string): boolean {
  return ADDRESS.test(address);
}

export function checkMailAddress(field: string, address: string): void {
  if (!isMailAddress(address)) throw badParameter(field, 'must be a mail address such as ops@example.org');
}

/** A name that does not resolve yet is accepted; one that resolves to a forbidden address is refused. */
export async function checkMailServer(host: string): Promise<void> {
  const parsed = parseHostAndPort(host, ANY_PORT);
  if (parsed?.host !== host.replace(/^\[|\]$/g, ''))
    throw badParameter('smtp_host', 'must be the name or address of a mail server, without a port');
  try {
    await outgoingAddress(host);
  } catch (error) {
    if (error instanceof GranaryError) throw fail('address_refused', { address: host });
  }
}

/** As one comma list, without blanks. */
export function readRecipients(text: string): string {
  const all = text.split(',').map((address) => address.trim());
  if (all.length > RECIPIENTS_MAX) throw badParameter('notice_to', `must have at most ${RECIPIENTS_MAX} addresses`);
  for (const address of all) checkMailAddress('notice_to', address);
  return all.join(',');
}
