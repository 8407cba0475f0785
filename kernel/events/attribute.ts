import { ALL_KINDS } from '@granary/contract';
import { badParameter } from '../errors.ts';
import type { EventFilter } from './events.ts';

const KIND = 'kind';

/** What `attr_key` and `attr_value` of GET /messages choose: a kind, one thing, or all things of a sort. */
export function eventAttribute(
  key: string | undefined,
  value: string | undefined,
  kinds: readonly string[],
): Pick<EventFilter, 'kind' | 'subject' | 'subjectKind'> {
  if (key === undefined) return {};
  if (key !== KIND) return value === undefined ? { subjectKind: key } : { subject: `${key}:${value}` };
  if (value !== undefined && (value === ALL_KINDS || kinds.includes(value))) return { kind: value };
  throw badParameter('attr_value', `must be a kind of events: ${[...kinds, ALL_KINDS].join(', ')}`);
}
