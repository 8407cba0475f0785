import { badParameter, checkMailAddress } from '@granary/kernel';

const RECIPIENTS_MAX = 20;

/** As one comma list, without blanks. */
export function readRecipients(text: string): string {
  const all = text.split(',').map((address) => address.trim());
  if (all.length > RECIPIENTS_MAX) throw badParameter('notice_to', `must have at most ${RECIPIENTS_MAX} addresses`);
  for (const address of all) checkMailAddress('notice_to', address);
  return all.join(',');
}
