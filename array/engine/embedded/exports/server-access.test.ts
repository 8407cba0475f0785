import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportedServer } from '../../engine.ts';
import { ServerAccess } from './server-access.ts';

const IQN = 'iqn.2026-01.org.example:web';

function server(id: string, initiator: string | null, address: string | null): ExportedServer {
  return { id, initiator, address, chap: null, mutualChap: null, isChapRequired: false, units: [] };
}

/** Who an initiator is taken for, whichever order servers came in. */
function foundIn(servers: readonly ExportedServer[], initiator: string, address: string): (string | undefined)[] {
  return [servers, servers.toReversed()].map((order) => {
    const access = new ServerAccess();
    for (const each of order) access.put(each, new Map());
    // A change of one puts it behind the others.
    access.put(order[0]!, new Map());
    return access.find(initiator, address)?.label;
  });
}

const servers = [
  server('srv-00000001', null, '10.0.0.7'),
  server('srv-00000002', null, '10.0.0.0/24'),
  server('srv-00000003', null, '10.0.0.0/24'),
  server('srv-00000004', IQN, null),
  server('srv-00000005', IQN, '10.0.0.0/8'),
  server('srv-00000006', IQN, '10.0.0.0/24'),
  server('srv-00000007', IQN, '10.0.0.0/24'),
];

test('an initiator is the server whose name it has, before any that has its address', () => {
  const both = (id: string) => [id, id];
  assert.deepEqual(foundIn(servers, IQN, '192.0.2.1'), both('srv-00000004'));
  assert.deepEqual(foundIn(servers.slice(0, 4), IQN, '10.0.0.7'), both('srv-00000004'));
  assert.deepEqual(foundIn(servers, 'iqn.2026-01.org.example:other', '10.0.0.7'), both('srv-00000001'));
  assert.deepEqual(foundIn(servers, 'iqn.2026-01.org.example:other', '192.0.2.1'), [undefined, undefined]);
});

test('of several that match, the one with the smallest network, then the one that was there first', () => {
  const both = (id: string) => [id, id];
  assert.deepEqual(foundIn(servers, IQN, '10.1.0.1'), both('srv-00000005'));
  assert.deepEqual(foundIn(servers, IQN, '10.0.0.1'), both('srv-00000006'));
  assert.deepEqual(foundIn(servers, 'iqn.2026-01.org.example:other', '10.0.0.9'), both('srv-00000002'));
  const dual = [server('srv-00000010', IQN, null), server('srv-00000009', IQN, null)];
  assert.deepEqual(foundIn(dual, IQN, '10.0.0.1'), both('srv-00000009'));
});
