import { checkNames } from '../request/address.ts';
import { Refusal } from '../request/refusal.ts';
import type { SwiftReply, SwiftRequest } from '../request/request.ts';
import { percentDecode } from '../request/text.ts';
import { deleteAll, type Doomed } from './delete-all.ts';

export const MAX_DELETES = 10_000;
/** Every name at its longest, percent-encoded. */
const MAX_BYTES = 16 * 1024 * 1024;

function readLine(line: string): Doomed {
  const path = percentDecode(line).replace(/^\//, '');
  const slash = path.indexOf('/');
  const container = slash < 0 ? path : path.slice(0, slash);
  const object = slash < 0 || slash === path.length - 1 ? null : path.slice(slash + 1);
  checkNames(container, object ?? undefined);
  return { container, object };
}

/** POST or DELETE with `bulk-delete`: one `/container/object` a line, percent-encoded. */
export async function bulkDelete(request: SwiftRequest): Promise<SwiftReply> {
  const { access, account, body } = request;
  // Without a token nothing could be deleted; with one, it is decided container by container.
  if (request.caller === null) throw access.denied(account.id);
  request.demandRate();
  const lines = (await body.whole(MAX_BYTES))
    .toString('latin1')
    .split('\n')
    .map((line) => line.replace(/\r$/, '').trim())
    .filter((line) => line !== '');
  if (lines.length > MAX_DELETES) throw new Refusal(413, `Maximum Bulk Deletes: ${MAX_DELETES} per request`);
  if (lines.length === 0) throw new Refusal(400, 'Invalid bulk delete.');
  return deleteAll(request, lines.map(readLine));
}
