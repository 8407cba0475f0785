import { commitDelete } from '../objects/legacy-versions.ts';
import { CLIENT_GONE, refusalOf, statusLine } from '../request/refusal.ts';
import { formatOf, type SwiftReply, type SwiftRequest } from '../request/request.ts';
import { percentEncode } from '../request/text.ts';
import { reportReply } from './report.ts';

/** Something to be deleted; without an object the container itself. */
export interface Doomed {
  readonly container: string;
  readonly object: string | null;
}

/** Deletions share commits; this many are under way at once. */
const AT_ONCE = 32;

interface Outcome {
  readonly status: number;
  readonly bytes: number;
}

async function deleteOne(request: SwiftRequest, { container, object }: Doomed): Promise<Outcome> {
  const { store, account, access, now } = request;
  const bucket = store.bucket(account.id, container);
  if (bucket === undefined) return { status: access.sees(account.id) ? 404 : 403, bytes: 0 };
  if (object === null) {
    if (!access.mayRemove(bucket)) return { status: 403, bytes: 0 };
    await store.commit('deleteBucket', { bucket: bucket.id, at: now });
    return { status: 204, bytes: 0 };
  }
  if (!access.mayDelete(bucket, object)) return { status: 403, bytes: 0 };
  const deletion = await commitDelete(request, bucket, object);
  if (deletion === undefined) return { status: 404, bytes: 0 };
  const { removed, marker } = deletion;
  return { status: 204, bytes: marker === null ? (removed?.size ?? 0) : 0 };
}

async function outcomeOf(request: SwiftRequest, doomed: Doomed): Promise<Outcome> {
  try {
    return await deleteOne(request, doomed);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined || refusal.status === CLIENT_GONE) throw error;
    return { status: refusal.status, bytes: 0 };
  }
}

function pathOf({ container, object }: Doomed): string {
  return percentEncode(object === null ? `/${container}` : `/${container}/${object}`);
}

/** A container can go only after its objects: what is named first is done first, a container waits for all before it. */
function batches(doomed: readonly Doomed[]): Doomed[][] {
  const result: Doomed[][] = [];
  for (const each of doomed) {
    const last = result.at(-1);
    const fits = last !== undefined && last.length < AT_ONCE && each.object !== null && last[0]?.object !== null;
    if (fits) last.push(each);
    else result.push([each]);
  }
  return result;
}

/** Deletes what it can and tells what it could not, in the form of a bulk report. */
export async function deleteAll(request: SwiftRequest, doomed: readonly Doomed[]): Promise<SwiftReply> {
  // Before anything goes: a report in no form that is accepted would be a refusal of what was done.
  const format = formatOf(request);
  let deleted = 0;
  let missing = 0;
  let bytesDeleted = 0;
  const errors: [string, string][] = [];
  for (const batch of batches(doomed)) {
    const outcomes = await Promise.all(batch.map((each) => outcomeOf(request, each)));
    for (const [index, outcome] of outcomes.entries()) {
      const each = batch[index];
      bytesDeleted += outcome.bytes;
      if (outcome.status === 204) deleted += 1;
      else if (outcome.status === 404) missing += 1;
      else if (each !== undefined) errors.push([pathOf(each), statusLine(outcome.status)]);
    }
  }
  const reply = reportReply(format, {
    'Number Deleted': deleted,
    'Number Not Found': missing,
    'Response Status': errors.length === 0 ? '200 OK' : '400 Bad Request',
    'Response Body': '',
    Errors: errors,
  });
  return { ...reply, bytesDeleted };
}
