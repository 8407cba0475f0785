import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray, type TestArray } from './testing/test-array.ts';

const { volumes, fileCategories, lifecyclePolicies, settings, users, drives, sessions, controllers } = arrayApi.groups;

test('without file lifecycle its calls are refused with the way to get it, and nothing is stored', async (t) => {
  const array = await testArray(t, { fileLifecycle: false });
  const { client } = array;
  const pool = await array.pool();
  const refusals = [
    await client.refused(fileCategories.create, { displayname: 'Pictures', file_extensions: ['jpg'] }),
    await client.refused(lifecyclePolicies.delete, { id: 'lc-policy-00000001' }),
    await client.refused(volumes.create, {
      name: 'share',
      pool,
      capacity: '1G',
      block: false,
      export_name: 'share',
      flcenabled: true,
    } as never),
  ];
  for (const { message } of refusals) assert.match(message, /ordered without file lifecycle; its owner switches it on/);
  assert.equal((await client.call(volumes.list, {})).count, 0);
  await client.call(fileCategories.list, {});
  assert.deepEqual(await lifecycleOf(array), ['NO', 'NO']);
  await array.change({ fileLifecycle: true });
  assert.deepEqual(await lifecycleOf(array), ['YES', 'YES']);
  await client.call(fileCategories.create, { displayname: 'Odd ones', file_extensions: ['qqq'] });
});

test('an array that is locked down can be read and signed in to, and takes no changes but its encryption password', async (t) => {
  const array = await testArray(t);
  const { client, anybody } = array;
  const pool = await array.pool();
  await client.call(settings.setEncryptionPassword, { encryption_pwd: 'open sesame' });
  await array.restart({ lockedDown: true });
  const refused = await client.refused(volumes.create, { name: 'v', pool, capacity: '100M' } as never);
  assert.match(refused.message, /Array Accounts is locked down: it serves its data/);
  assert.equal(refused.code, 26);
  await client.call(drives.list, {});
  assert.equal((await signedIn(array)).locked_down, true);
  await anybody.call(users.login, { user: 'dana', password: 'first passcode' });
  await client.call(settings.restoreEncryption, { encryption_pwd: 'open sesame' });
  await array.change({ lockedDown: false });
  assert.equal((await signedIn(array)).locked_down, false);
  await array.volume(pool);
});

async function lifecycleOf({ client }: TestArray) {
  return (await client.call(controllers.list, {})).vcontrollers.map(({ file_lifecycle: isOn }) => isOn);
}

/** The session that a browser begins. */
async function signedIn({ anybody }: TestArray) {
  return (await anybody.call(sessions.create, { username: 'dana', password: 'first passcode' })).session;
}
