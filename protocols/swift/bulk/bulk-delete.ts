import { checkNames } from '../request/address.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftReply, SwiftRequest } from '../request/request.ts';
import { percentDecode } from '../request/text.ts';
import { deleteAll, type Doomed } from './delete-all.ts';

export const MAX_DELETES = 10_000;
const MAX_LINES = 2 * MAX_DELETES;
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

/** Empty lines are skipped, within limits: megabytes of them would take as long as names do. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  let left = MAX_LINES;
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    const line = text.slice(at, end).trim();
    at = end + 1;
    left -= 1;
    if (line !== '') lines.push(line);
    if (lines.length > MAX_DELETES || left < 0)
      throw new SwiftRefusal(413, `Maximum Bulk Deletes: ${MAX_DELETES} per request`);
  }
  return lines;
}

/** POST or DELETE with `bulk-delete`: one `/container/object` a line, percent-encoded. */
export async function bulkDelete(request: SwiftRequest): Promise<SwiftReply> {
  const { access, account, body } = request;
  // Without a token nothing could be deleted; with one, it is decided container by container.
  if (request.caller === null) throw access.denied(account.id);
  request.demandRate();
  const lines = linesOf((await body.whole(MAX_BYTES)).toString('latin1'));
  if (lines.length === 0) throw new SwiftRefusal(400, 'Invalid bulk delete.');
  return deleteAll(request, lines.map(readLine));
}
