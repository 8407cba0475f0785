import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IncomingHttpHeaders } from 'node:http';
import { answeredHeaders } from './headers.ts';

/** Through the relay of the array, and that of the portal. */
function throughBoth(headers: IncomingHttpHeaders) {
  return answeredHeaders(answeredHeaders(headers) as IncomingHttpHeaders);
}

test("an object's own Cache-Control is told apart from that of the answer, however many relays there are", () => {
  for (const own of ['max-age=60', 'no-store']) {
    const answer = throughBoth({ etag: '"1"', 'cache-control': own });
    assert.deepEqual([answer['cache-control'], answer['x-stored-cache-control']], ['no-store', own]);
  }
  const without = throughBoth({ etag: '"1"' });
  assert.deepEqual([without['cache-control'], 'x-stored-cache-control' in without], ['no-store', false]);
});
