import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canTake, cannotTakeWords, offeredFor, reachWords } from '../src/array/servers/reach.ts';

/** Goal: what is offered to be attached to is what the array would attach to. */

const server = (display_name: string, iqn: string | null, iscsi_ip: string | null) => ({ display_name, iqn, iscsi_ip });
const byName = server('web-1', 'iqn.2026-01.org.example:web-1', null);
const byAddress = server('web-2', null, '10.0.0.2');
const neither = server('old', null, null);
const share = { data_type: 'File-System' } as const;
const disk = { data_type: 'BLOCK' } as const;

test('a share is for servers with an address', () => {
  assert.deepEqual(offeredFor([byName, byAddress], share), { able: [byAddress], chosen: byAddress });
  assert.match(cannotTakeWords([byName, byAddress], share) ?? '', /^Not offered: web-1 has no address, and shares/);
  assert.deepEqual(offeredFor([byName], share).able, []);
});

test('a disk is for servers with an initiator name, or any initiator at an address, which is not chosen by itself', () => {
  assert.deepEqual(offeredFor([byName, neither], disk), { able: [byName], chosen: byName });
  assert.deepEqual(offeredFor([byAddress], disk), { able: [byAddress], chosen: undefined });
  assert.equal(reachWords(byAddress, disk), 'any initiator at 10.0.0.2');
  assert.deepEqual([canTake(neither, disk), cannotTakeWords([byName, byAddress], disk)], [false, undefined]);
  assert.match(cannotTakeWords([neither], disk) ?? '', /^Not offered: old has neither/);
});
