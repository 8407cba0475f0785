import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startFakeObjects } from '../testing/fake-objects.ts';
import { refused, startTestPortal, type Person } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, friend, otherUser, name, cloud } = portal;
const PASSWORD = 'correct horse battery';

const serving = await startFakeObjects();
portal.onStop(() => serving.stop());

/** An object storage array that is managed at that address. */
async function bucket(person: Person, url: string): Promise<number> {
  cloud.managementUrl = url;
  const { id } = await portal.objectArray(person);
  cloud.managementUrl = undefined;
  return id;
}

const accountOf = (person: Person, arrayId: number, changes: Record<string, unknown> = {}) => ({
  array_id: arrayId,
  object_storage_account_name: name('account'),
  object_storage_admin_username: 'carol',
  object_storage_admin_password: PASSWORD,
  user_id: person.id,
  ...changes,
});

test('an account of those who may act at once is opened on the array, with its administrator and password', async () => {
  const arrayId = await bucket(friend, serving.url);
  const input = accountOf(friend, arrayId);
  const { data, message } = await friend.client.objectAccounts.create(input);
  assert.match(message, /Account account-\d+ was created/);
  assert.deepEqual([data.status, data.user_id, data.array_id], ['created', friend.id, arrayId]);
  const remote = [...serving.accounts.values()].find((one) => one.name === input.object_storage_account_name);
  assert.deepEqual([remote?.admin?.username, remote?.admin?.password], ['carol', PASSWORD]);
  const { data: request } = await friend.client.arrayRequests.get({ id: data.objs_request_id });
  assert.deepEqual([request.kind, request.status, request.array_id], ['create_account', 'approved', arrayId]);
  assert.deepEqual((await friend.client.objectAccounts.get({ array_id: arrayId, account_id: data.id })).data, data);
  assert.deepEqual((await friend.client.objectAccounts.list({ array_id: arrayId })).data, [data]);
});

test('the portal signs in at the array with the key the array was made with', async () => {
  const arrayId = await bucket(friend, serving.url);
  serving.keysSeen.clear();
  await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const array = (await friend.client.arrays.get({ array_id: arrayId })).data.name;
  assert.deepEqual([...serving.keysSeen], [cloud.specOf(array).internal_key]);
});

test('an account of an ordinary user waits, and approval opens it', async () => {
  const arrayId = await bucket(owner, serving.url);
  const input = accountOf(owner, arrayId);
  const { data, message } = await owner.client.objectAccounts.create(input);
  assert.equal(data.status, 'waiting_for_approval');
  assert.match(message, new RegExp(`Request ${data.objs_request_id} was submitted and waits`));
  assert.ok(![...serving.accounts.values()].some((one) => one.name === data.account_name));
  await admin.client.arrayRequests.approve({ id: data.objs_request_id, name: data.account_name });
  const { data: opened } = await owner.client.objectAccounts.get({ array_id: arrayId, account_id: data.id });
  assert.equal(opened.status, 'created');
  const remote = [...serving.accounts.values()].find((one) => one.name === data.account_name);
  assert.equal(remote?.admin?.password, PASSWORD);
});

test('an account that is denied is gone, and its name is free again', async () => {
  const arrayId = await bucket(owner, serving.url);
  const input = accountOf(owner, arrayId);
  const { data } = await owner.client.objectAccounts.create(input);
  await admin.client.arrayRequests.deny({ id: data.objs_request_id, reason: 'no' });
  assert.deepEqual((await owner.client.objectAccounts.list({ array_id: arrayId })).data, []);
  await owner.client.objectAccounts.create(input);
});

test('moderate=true makes even those who may act at once wait', async () => {
  const arrayId = await bucket(friend, serving.url);
  const { data } = await friend.client.objectAccounts.create({ ...accountOf(friend, arrayId), moderate: true });
  assert.equal(data.status, 'waiting_for_approval');
});

test('an array that does not answer gets another error than one that refuses', async () => {
  const gone = await startFakeObjects();
  await gone.stop();
  const arrayId = await bucket(friend, gone.url);
  const call = friend.client.objectAccounts.create(accountOf(friend, arrayId));
  await refused(call, 409, /does not answer at http:\/\/127\.0\.0\.1:\d+; try again when it is up/);
});

test('an approval that the array refuses leaves the request and the account waiting, and says why', async () => {
  const arrayId = await bucket(owner, serving.url);
  const { data } = await owner.client.objectAccounts.create(accountOf(owner, arrayId));
  const request = { id: data.objs_request_id, name: data.account_name };
  const shown = async () => (await admin.client.arrayRequests.get({ id: request.id })).data;
  serving.refusesUsers = true;
  await refused(admin.client.arrayRequests.approve(request), 409, /refused: There are too many users/);
  serving.refusesUsers = false;
  const { status, reason, decided_by: by } = await shown();
  assert.deepEqual([status, by], ['pending', null]);
  assert.match(reason ?? '', /too many users/);
  const account = { array_id: arrayId, account_id: data.id };
  assert.equal((await owner.client.objectAccounts.get(account)).data.status, 'waiting_for_approval');
  assert.ok(![...serving.accounts.values()].some((one) => one.name === data.account_name));
  await admin.client.arrayRequests.approve(request);
  assert.equal((await owner.client.objectAccounts.get(account)).data.status, 'created');
  const remote = [...serving.accounts.values()].find((one) => one.name === data.account_name);
  assert.equal(remote?.admin?.password, PASSWORD);
});

for (const step of ['create', 'user', 'password'] as const) {
  test(`an account is opened once and whole when the portal is cut off after it asked for ${step}`, async () => {
    const arrayId = await bucket(friend, serving.url);
    const input = accountOf(friend, arrayId);
    serving.losesAnswerTo = step;
    const { data } = await friend.client.objectAccounts.create(input);
    assert.equal(data.status, 'created');
    const there = [...serving.accounts.values()].filter((one) => one.name === input.object_storage_account_name);
    assert.deepEqual(
      there.map((one) => [one.admin?.username, one.admin?.password]),
      [['carol', PASSWORD]],
    );
  });
}

test('an account is removed although the answer of the array was lost', async () => {
  const arrayId = await bucket(friend, serving.url);
  const { data } = await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const account = { array_id: arrayId, account_id: data.id };
  const { array_request_id: id } = await friend.client.objectAccounts.delete(account);
  serving.losesAnswerTo = 'delete';
  await admin.client.arrayRequests.approve({ id, name: data.account_name });
  await refused(friend.client.objectAccounts.get(account), 404, /There is no account/);
  assert.equal((await friend.client.arrayRequests.get({ id })).data.status, 'approved');
});

test('an account of the same name that was opened at the array itself is never taken over', async () => {
  const arrayId = await bucket(friend, serving.url);
  const input = accountOf(friend, arrayId);
  const theirs = { name: input.object_storage_account_name, admin: { username: 'dave', email: 'd@x.org' } };
  serving.accounts.set('f'.repeat(32), theirs);
  await refused(friend.client.objectAccounts.create(input), 409, /has an account account-\d+ already/);
  assert.equal(serving.accounts.get('f'.repeat(32)), theirs);
  assert.deepEqual((await friend.client.objectAccounts.list({ array_id: arrayId })).data, []);
});

test('an account shows what it holds as the array counts it, and null when the array does not answer', async () => {
  const passing = await startFakeObjects();
  const arrayId = await bucket(friend, passing.url);
  const { data } = await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const shown = async () => {
    const { data: one } = await friend.client.objectAccounts.get({ array_id: arrayId, account_id: data.id });
    assert.deepEqual((await friend.client.objectAccounts.list({ array_id: arrayId })).data, [one]);
    return [one.used_capacity, one.containers_count, one.objects_count];
  };
  assert.deepEqual(await shown(), [0, 0, 0]);
  for (const [id, account] of passing.accounts)
    passing.accounts.set(id, { ...account, figures: { gib: 1.5, containers: 3, objects: 42 } });
  assert.deepEqual(await shown(), [1.5, 3, 42]);
  await passing.stop();
  assert.deepEqual(await shown(), [null, null, null]);
});

test('the password of an account that waits or was opened is nowhere in the clear', async () => {
  const arrayId = await bucket(friend, serving.url);
  await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  await friend.client.objectAccounts.create({ ...accountOf(friend, arrayId), moderate: true });
  const dump = JSON.stringify(portal.dump());
  assert.ok(!dump.includes(PASSWORD));
  assert.ok(!dump.includes(JSON.stringify(PASSWORD)));
});

test('an account whose administrator the array refuses is not left behind there', async () => {
  const arrayId = await bucket(friend, serving.url);
  const input = accountOf(friend, arrayId);
  serving.refusesUsers = true;
  await refused(friend.client.objectAccounts.create(input), 409, /refused: There are too many users/);
  serving.refusesUsers = false;
  assert.ok(![...serving.accounts.values()].some((one) => one.name === input.object_storage_account_name));
  assert.equal((await friend.client.objectAccounts.create(input)).data.status, 'created');
});

test('removing an account always asks an administrator, whose word removes it from the array', async () => {
  const arrayId = await bucket(friend, serving.url);
  const { data } = await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const account = { array_id: arrayId, account_id: data.id };
  const { array_request_id: request } = await friend.client.objectAccounts.delete(account);
  const { data: filed } = await friend.client.arrayRequests.get({ id: request });
  assert.deepEqual([filed.kind, filed.status, filed.name], ['delete_account', 'pending', data.account_name]);
  assert.equal((await friend.client.objectAccounts.get(account)).data.status, 'created');
  await admin.client.arrayRequests.approve({ id: request, name: data.account_name });
  await refused(friend.client.objectAccounts.get(account), 404, /There is no account/);
  assert.ok(![...serving.accounts.values()].some((one) => one.name === data.account_name));
});

test('a removal that is denied leaves the account as it was', async () => {
  const arrayId = await bucket(friend, serving.url);
  const { data } = await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const account = { array_id: arrayId, account_id: data.id };
  const { array_request_id: request } = await friend.client.objectAccounts.delete(account);
  await admin.client.arrayRequests.deny({ id: request, reason: 'still in use' });
  assert.deepEqual((await friend.client.objectAccounts.get(account)).data, data);
});

test('an account that is gone from the array already can still be removed here', async () => {
  const arrayId = await bucket(friend, serving.url);
  const { data } = await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const { array_request_id: request } = await friend.client.objectAccounts.delete({
    array_id: arrayId,
    account_id: data.id,
  });
  serving.accounts.clear();
  await admin.client.arrayRequests.approve({ id: request, name: data.account_name });
  assert.deepEqual((await friend.client.objectAccounts.list({ array_id: arrayId })).data, []);
});

test('an account that waits and is removed is not opened any more', async () => {
  const arrayId = await bucket(owner, serving.url);
  const { data } = await owner.client.objectAccounts.create(accountOf(owner, arrayId));
  const { array_request_id: removal } = await owner.client.objectAccounts.delete({
    array_id: arrayId,
    account_id: data.id,
  });
  const { approve } = admin.client.arrayRequests;
  await approve({ id: removal, name: data.account_name });
  assert.deepEqual((await owner.client.objectAccounts.list({ array_id: arrayId })).data, []);
  await refused(approve({ id: data.objs_request_id, name: data.account_name }), 409, /was denied already/);
  assert.ok(![...serving.accounts.values()].some((one) => one.name === data.account_name));
});

test('accounts go with the array they are on', async () => {
  const arrayId = await bucket(friend, serving.url);
  await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  await friend.client.arrays.delete({ array_id: arrayId });
  await portal.until(arrayId, 'deleted');
  assert.deepEqual((await friend.client.objectAccounts.list({ array_id: arrayId })).data, []);
});

test('accounts are for object storage that is up', async () => {
  const block = await portal.array(friend);
  await refused(
    friend.client.objectAccounts.create(accountOf(friend, block.id)),
    409,
    /is not an object storage array/,
  );
  const arrayId = await bucket(friend, serving.url);
  await friend.client.arrays.hibernate({ array_id: arrayId });
  await portal.until(arrayId, 'hibernated');
  const asleep = friend.client.objectAccounts.create(accountOf(friend, arrayId));
  await refused(asleep, 409, /is hibernated; opening an account needs it to be created/);
});

test('the name of an account is its own on its array', async () => {
  const arrayId = await bucket(friend, serving.url);
  const input = accountOf(friend, arrayId);
  await friend.client.objectAccounts.create(input);
  await refused(friend.client.objectAccounts.create(input), 409, /is taken/);
  const waiting = accountOf(friend, arrayId, { moderate: true });
  await friend.client.objectAccounts.create(waiting);
  await refused(friend.client.objectAccounts.create(waiting), 409, /is taken/);
});

test('an account belongs to a user who exists, and a user opens accounts only for themselves', async () => {
  const arrayId = await bucket(friend, serving.url);
  await refused(friend.client.objectAccounts.create(accountOf(otherUser, arrayId)), 404, /There is no user/);
  await refused(
    admin.client.objectAccounts.create({ ...accountOf(friend, arrayId), user_id: 9999 }),
    404,
    /no user 9999/,
  );
  const { data } = await admin.client.objectAccounts.create(accountOf(otherUser, arrayId));
  assert.equal(data.user_id, otherUser.id);
});

test('an account of one array is not found under another', async () => {
  const [first, second] = [await bucket(friend, serving.url), await bucket(friend, serving.url)];
  const { data } = await friend.client.objectAccounts.create(accountOf(friend, first));
  await refused(
    friend.client.objectAccounts.get({ array_id: second, account_id: data.id }),
    404,
    /There is no account/,
  );
  await refused(
    friend.client.objectAccounts.delete({ array_id: second, account_id: data.id }),
    404,
    /There is no account/,
  );
});

test('the user an account is for sees it as their own and may ask for its removal, and sees nothing else', async () => {
  const arrayId = await bucket(friend, serving.url);
  const { data: theirs } = await admin.client.objectAccounts.create(accountOf(otherUser, arrayId));
  const { data: others } = await friend.client.objectAccounts.create(accountOf(friend, arrayId));
  const { objectAccounts } = otherUser.client;
  const place = { array_id: arrayId, account_id: theirs.id };
  assert.equal((await objectAccounts.get(place)).data.account_name, theirs.account_name);
  assert.deepEqual(
    (await objectAccounts.list({ array_id: arrayId })).data.map(({ id }) => id),
    [theirs.id],
  );
  assert.ok((await objectAccounts.listAll()).data.some(({ id }) => id === theirs.id));
  assert.ok((await objectAccounts.listAll()).data.every(({ user_id: user }) => user === otherUser.id));
  await refused(objectAccounts.get({ array_id: arrayId, account_id: others.id }), 404, /There is no account/);
  await refused(objectAccounts.delete({ array_id: arrayId, account_id: others.id }), 404, /There is no account/);
  await refused(otherUser.client.arrays.get({ array_id: arrayId }), 404, /There is no array/);
  assert.equal((await friend.client.objectAccounts.list({ array_id: arrayId })).data.length, 2);
  const { array_request_id: request } = await objectAccounts.delete(place);
  await admin.client.arrayRequests.approve({ id: request, name: theirs.account_name });
  await refused(objectAccounts.list({ array_id: arrayId }), 404, /There is no array/);
});
