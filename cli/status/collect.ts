import { ApiError, arrayClient, ConnectionError, objectsClient, portalClient } from '@granary/client';
import { denialReason } from '@granary/contract/portal';
import type { ArrayKey } from '../array/keys.ts';
import { productWords } from '../array/product.ts';
import type { ArrayReport, Finding, StatusReport } from './report.ts';
import { inspectObjectStorage } from './object-storage.ts';
import { inspectStorageArray } from './storage-array.ts';

const ANSWER_MS_MAX = 10_000;

/** How the portal and the arrays are reached. */
export interface Reach {
  readonly url: string;
  readonly token: string;
  readonly keys: readonly ArrayKey[];
  fetchFor(url: string): { readonly fetch?: typeof fetch };
}

type Portal = ReturnType<typeof portalClient>;
type ListedArray = Awaited<ReturnType<Portal['arrays']['list']>>['data'][number];

/** Asks the portal, and every array whose key is kept, all at once. */
export async function collectStatus(reach: Reach): Promise<StatusReport> {
  const { url, token } = reach;
  const portal = portalClient({ url, token, timeoutMs: ANSWER_MS_MAX, ...reach.fetchFor(url) });
  const [{ data: arrays }, { data: requests }] = await Promise.all([
    portal.arrays.list(),
    portal.arrayRequests.list({ status: 'pending' }),
  ]);
  const inspected = await Promise.all(arrays.map((array) => inspect(array, reach)));
  const waiting = requests.map(({ id, kind, name, created_at: asked }): Finding => ({
    kind: 'waiting',
    what: `request ${id} (${kind} ${name}) of ${asked} waits for approval`,
  }));
  return {
    portal: url,
    arraysByState: countedBy(arrays.map(stateOf)),
    requestsPending: requests.length,
    arrays: inspected.map(({ report }) => report),
    findings: [...inspected.flatMap(({ findings }) => findings), ...waiting],
  };
}

interface Inspected {
  readonly report: ArrayReport;
  readonly findings: readonly Finding[];
}

async function inspect(array: ListedArray, reach: Reach): Promise<Inspected> {
  const { name, status, product } = array;
  const denial = denialOf(array);
  if (denial !== undefined) return { report: { name, kind: product, status: 'denied', note: denial }, findings: [] };
  const report: ArrayReport = { name, kind: product, status };
  const about = (findings: readonly Finding[]) => findings.map((finding) => ({ ...finding, array: name }));
  if (status !== 'created') return { report, findings: about(ofState(array)) };
  const key = reach.keys.find(({ url }) => url === array.management_url);
  const words = productWords[product];
  const signIn = `granary ${words.prefix} login ${name}`;
  if (!key) return { report: { ...report, note: `not signed in: ${signIn}` }, findings: [] };
  const place = { url: key.url, accessKey: key.key, timeoutMs: ANSWER_MS_MAX, ...reach.fetchFor(key.url) };
  try {
    const { findings, ...figures } =
      product === 'object_storage'
        ? await inspectObjectStorage(objectsClient(place))
        : await inspectStorageArray(arrayClient(place));
    return { report: { ...report, ...figures }, findings: about(findings) };
  } catch (error) {
    if (error instanceof ConnectionError)
      return { report: { ...report, note: 'no answer' }, findings: about([{ kind: 'failing', what: error.message }]) };
    if (!(error instanceof ApiError)) throw error;
    return { report: { ...report, note: `${error.message} (${signIn})` }, findings: [] };
  }
}

/** An order that was denied has not failed. */
function stateOf(array: ListedArray): string {
  return denialOf(array) === undefined ? array.status : 'denied';
}

function denialOf({ status, status_message: message }: ListedArray): string | undefined {
  return denialReason({ status, message });
}

function ofState({ status, status_message: message }: ListedArray): Finding[] {
  const words = message ? `it is ${status}: ${message}` : `it is ${status}`;
  if (status === 'failed') return [{ kind: 'failing', what: words }];
  return /ing$/.test(status) ? [{ kind: 'underway', what: words }] : [];
}

function countedBy(states: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
