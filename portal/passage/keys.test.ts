import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { PassageKeys, type Asked } from './keys.ts';

/** An array that answers when the test says so, and what it was asked. */
function slowArray() {
  const requests: string[] = [];
  const answers: (() => void)[] = [];
  const fetchToArray = () => (url: string, init?: RequestInit) => {
    requests.push(`${init?.method ?? 'GET'} ${new URL(url).pathname}`);
    const id = `key-${requests.length}`;
    const delegated_key = { id, key: 'secret', username: 'dana', role: 'admin', account_id: null, account_name: null };
    const times = { expires_at: '2031-03-10 20:00:00 UTC', idle_seconds: 1800 };
    const body = { response: { status: 0, delegated_key: { ...delegated_key, ...times } } };
    return new Promise<Response>((resolve) => answers.push(() => resolve(Response.json(body))));
  };
  const clock = new ManualClock('2031-03-10T12:00:00Z');
  const tools = { clock, vault: { unseal: () => 'inner' }, log: { warn: () => undefined } };
  const keys = new PassageKeys(tools as never, { fetchToArray } as never);
  const answer = async () => {
    for (const one of answers.splice(0)) one();
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { keys, requests, answer };
}

const array = { uuid: 'a', name: 'tank', managementUrl: 'http://array.test', internalKeySealed: '' };
const asked = { array, account: undefined, ofArray: true } as unknown as Asked;
const dana = { id: 'user:1', userId: 1, username: 'dana', role: 'admin', autoApproved: true, sessionId: 7 } as const;

test('a key that the array gives after the session ended is dropped, and not used', async () => {
  const { keys, requests, answer } = slowArray();
  const waiting = assert.rejects(keys.obtain(dana, asked), { entry: 'invalid_credentials' });
  await keys.endSession(7);
  await answer();
  await waiting;
  assert.deepEqual(requests, ['POST /api/delegated_keys', 'DELETE /api/delegated_keys/key-1']);
});

test('so is one of a user whose rights changed meanwhile; who asks from then on gets another', async () => {
  const { keys, requests, answer } = slowArray();
  const waiting = assert.rejects(keys.obtain(dana, asked), { entry: 'invalid_credentials' });
  await keys.endUser('user:1');
  const again = keys.obtain(dana, asked);
  await answer();
  await waiting;
  assert.equal((await again).id, 'key-2');
  assert.deepEqual(requests.slice(0, 2), ['POST /api/delegated_keys', 'POST /api/delegated_keys']);
});

test('requests that need the same key wait for one question, and those of others are not touched', async () => {
  const { keys, requests, answer } = slowArray();
  const all = [keys.obtain(dana, asked), keys.obtain(dana, asked)];
  await keys.endSession(8);
  await keys.endUser('user:1', 7);
  await answer();
  const [one, other] = await Promise.all(all);
  assert.equal(one?.id, other?.id);
  assert.equal((await keys.obtain(dana, asked)).id, one?.id);
  assert.equal(requests.length, 1);
});
