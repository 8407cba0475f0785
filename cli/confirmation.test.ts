import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { main } from './main.ts';
import { fakePortal } from './testing/portal.ts';
import { contents } from './testing/contents.ts';
import { peopledTerminal } from './testing/terminal.ts';

const held = contents({ volumes: 3, attached_volumes: 2 });

function portalWith(t: TestContext, said: object) {
  return fakePortal(t, {
    'GET /arrays': { status: 'success', data: [{ id: 7, name: 'old tank', status: 'created' }] },
    'GET /arrays/7': { status: 'success', data: { id: 7, name: 'old tank', status: 'created' } },
    'GET /arrays/7/contents': said,
    'DELETE /arrays/7': { status: 'success', message: 'Array old tank is being deleted.' },
    'POST /arrays/7/purge': { status: 'success', message: 'Array old tank is being purged.' },
    'POST /arrays/7/undelete': { status: 'success', message: 'Array old tank is restoring.' },
  });
}

type Portal = Awaited<ReturnType<typeof portalWith>>;
const changes = ({ seen }: Portal) => seen.filter(({ method }) => method !== 'GET').map(({ method }) => method);

test('an array with volumes is deleted by a script only with its name', async (t) => {
  const portal = await portalWith(t, held);
  const refused = await portal.run(['arrays', 'delete', 'old tank']);
  assert.deepEqual(
    [refused.code, refused.err],
    [2, "granary: Array old tank holds 3 volumes (2 attached to servers). Say --yes 'old tank' if you mean it.\n"],
  );
  const other = await portal.run(['arrays', 'delete', '7', '--yes', 'tank']);
  assert.deepEqual(
    [other.code, other.err],
    [2, 'granary: --yes says tank, but the array is named old tank. Nothing was done.\n'],
  );
  assert.deepEqual(changes(portal), []);
  const { code, out } = await portal.run(['arrays', 'delete', '7', '--yes', 'old tank']);
  assert.deepEqual([code, out], [0, 'Array old tank is being deleted.\n']);
  assert.deepEqual(changes(portal), ['DELETE']);
});

test('an empty array needs no name; one that holds buckets or does not answer does', async (t) => {
  const empty = await portalWith(t, contents({ volumes: 0, attached_volumes: 0 }));
  assert.equal((await empty.run(['arrays', 'delete', '7'])).code, 0);
  const buckets = await portalWith(t, contents({ accounts: 1, containers: 2, objects: 1 }));
  const { code, err } = await buckets.run(['arrays', 'delete', '7']);
  assert.equal(code, 2);
  assert.match(err, /holds 1 account, 2 buckets, 1 object\. Say --yes/);
  const silent = await portalWith(t, contents({}, false));
  assert.match((await silent.run(['arrays', 'delete', '7'])).err, /does not say what it holds\. Say --yes/);
  assert.deepEqual([changes(buckets), changes(silent)], [[], []]);
});

test('at a terminal, the name has to be typed', { timeout: 120_000 }, async (t) => {
  const portal = await portalWith(t, held);
  const typing = async (text: string) => {
    const { terminal, type } = peopledTerminal();
    Object.assign(terminal.env, { GRANARY_URL: portal.url, GRANARY_TOKEN: 'tok' });
    type(`${text}\n`);
    return { code: await main(['arrays', 'delete', '7'], terminal), err: terminal.err };
  };
  const wrong = await typing('tank');
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /Array old tank holds 3 volumes \(2 attached to servers\)\.\nType its name to go on: /);
  assert.match(wrong.err, /That is not its name\. Nothing was done\./);
  assert.deepEqual(changes(portal), []);
  assert.equal((await typing('old tank')).code, 0);
  assert.deepEqual(changes(portal), ['DELETE']);
});

test('a purge always needs the name, and deleted arrays are found by theirs', async (t) => {
  const portal = await portalWith(t, held);
  assert.equal((await portal.run(['arrays', 'purge', 'old tank'])).code, 2);
  assert.deepEqual(changes(portal), []);
  assert.equal((await portal.run(['arrays', 'purge', 'old tank', '--yes', 'old tank'])).code, 0);
  assert.equal((await portal.run(['arrays', 'undelete', 'old tank'])).code, 0);
  const lists = portal.seen.filter(({ path }) => path === '/api/arrays');
  assert.ok(lists.length > 0 && lists.every(({ query }) => query.get('restorable') === 'true'));
});
