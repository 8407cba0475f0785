import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { enteringByCode, mailPasswordCode, setPasswordByCode } from '../src/app/password-code.ts';

/** Goal: the sign-in page sends what the contract declares, though it loads no API. */

interface Sent {
  readonly path: string;
  readonly body: unknown;
}

function answering(t: { readonly after: (done: () => void) => void }, reply: object): Sent[] {
  const sent: Sent[] = [];
  const before = globalThis.fetch;
  t.after(() => (globalThis.fetch = before));
  globalThis.fetch = (path, { body } = {}) => {
    sent.push({ path: path as string, body: JSON.parse(body as string) });
    return Promise.resolve(Response.json(reply));
  };
  return sent;
}

const { usePasswordCode, resetPassword } = objectsApi.groups.users;
const who = { account: 'webhosting', username: 'dana b' };

test('a code sets the password of the user that the address names', async (t) => {
  const sent = answering(t, { status: 0, status_msg: 'Done.' });
  await setPasswordByCode({ ...who, code: 'f3a9c1d2', password: 'Pick-An0ther' });
  assert.deepEqual(sent, [
    {
      path: `/api${usePasswordCode.path.replace('{username}', 'dana%20b')}`,
      body: { account: 'webhosting', code: 'f3a9c1d2', new_password: 'Pick-An0ther' },
    },
  ]);
  assert.deepEqual(
    new Set(['username', ...Object.keys(sent[0]?.body as object)]),
    new Set(Object.keys(usePasswordCode.params)),
  );
});

test('a code is mailed, and a refusal is said', async (t) => {
  const sent = answering(t, { response: { status: 50_012, message: 'Too many requests.' } });
  await assert.rejects(mailPasswordCode(who), /Too many requests\./);
  assert.deepEqual(sent, [{ path: `/api${resetPassword.path}`, body: who }]);
});

test('a code is spent once: where signing in alone failed, only that is tried again', async (t) => {
  const sent = answering(t, { status: 0, status_msg: 'Done.' });
  const typed = { ...who, code: 'f3a9c1d2', password: 'Pick-An0ther' };
  const { code: _, ...credentials } = typed;
  const entered: object[] = [];
  const go = enteringByCode();
  const enter = (given: object) => {
    entered.push(given);
    return entered.length === 1 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve();
  };
  await assert.rejects(go(typed, enter), TypeError);
  await go(typed, enter);
  assert.deepEqual([sent.length, entered], [1, [credentials, credentials]]);
  await go({ ...typed, code: '00c0ffee' }, enter);
  assert.equal(sent.length, 2, 'another code is another try');
});
