import { endpoint, type Access, type Api, type Group } from './endpoint.ts';
import { int, listOf, oneOf, record, str, type RecordOf } from './records.ts';
import { response } from './reply.ts';

/** The portal that an array belongs to, by the key the two have in common; no key of a user opens this. */
const portalOnly: Access = { roles: ['portal'] };

/** Something in an array that needs a person. */
export const Concern = record('Concern', {
  severity: oneOf('error', 'warning'),
  kind: str("The page of the array's console that shows it, such as `pools`"),
  id: str('What its own group names it by; empty: the page as a whole'),
  text: str('What is the matter, in one sentence'),
});
export type Concern = RecordOf<typeof Concern>;

export const ArraySummary = record('ArraySummary', {
  raw_bytes: int('Of its drives'),
  usable_bytes: int('Of its RAID groups, or of its storage policies: without what further copies and parity take'),
  pooled_bytes: int('Of its pools, or of its storage policies: what volumes and objects can take'),
  used_bytes: int('What of that is taken'),
  concerns: listOf(Concern),
  concern_count: int('All of them, also those that are not listed'),
});
export type ArraySummary = RecordOf<typeof ArraySummary>;

/** The worst ones are listed. */
export const CONCERNS_MAX = 20;

const summaries = {
  get: endpoint('GET', '/summary', {
    summary: 'How full the array is, and what in it needs attention',
    access: portalOnly,
    reply: response({ summary: ArraySummary }),
  }),
} satisfies Group;

/** What a portal asks of each of its arrays from time to time, so that an overview costs no request to any of them. */
export const summaryApi = {
  name: 'array-summaries',
  title: 'Granary portal and what its arrays hold',
  description: 'What a portal shows of the insides of its arrays.',
  dialect: 'array',
  groups: { summaries },
} as const satisfies Api;
