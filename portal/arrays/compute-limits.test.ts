import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refused, startTestPortal, type Person } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, otherUser, name } = portal;
const PASSWORD = 'correct horse battery';

/** An auto-approved user who has nothing yet. */
async function newUser(): Promise<Person> {
  const username = name('user');
  await admin.client.users.create({ username, password: PASSWORD, auto_approved: true });
  return portal.person(username, PASSWORD);
}

async function newCompute(person: Person, limits: { cores?: number; ram?: number; instances?: number } = {}) {
  const display_name = name('farm');
  await person.client.computes.create({ provider_id: 1, display_name, ...limits });
  const found = (await person.client.computes.list()).data.find((one) => one.display_name === display_name);
  assert.ok(found);
  return found;
}

const withApp = { app_engine: 'app_small' };

test('a compute account is listed and shown to its user and to administrators, and to no other user', async () => {
  const user = await newUser();
  const made = await newCompute(user);
  const { id, created_at: createdAt, display_name: called, ...rest } = made;
  assert.match(createdAt, /^\d{4}-\d\d-\d\d /);
  assert.match(called, /^farm-/);
  const limits = { cores: 64, ram: 238, instances: 10 };
  assert.deepEqual(rest, { provider_id: 1, user_id: user.id, display_description: null, ...limits });
  assert.deepEqual((await user.client.computes.get({ id })).data, made);
  assert.deepEqual((await admin.client.computes.get({ id })).data, made);
  assert.ok((await admin.client.computes.list()).data.some((one) => one.id === id));
  assert.ok((await otherUser.client.computes.list()).data.every((one) => one.id !== id));
  await refused(otherUser.client.computes.get({ id }), 404, new RegExp(`There is no compute account ${id}`));
  await refused(otherUser.client.computes.delete({ id }), 404, /There is no compute account/);
});

for (const [what, limits] of [
  ['cores', { cores: 1 }],
  ['ram', { ram: 1 }],
  ['instances', { instances: 1 }],
] as const) {
  test(`no more app engines are ordered than the ${what} of the compute accounts allow`, async () => {
    const user = await newUser();
    const account = await newCompute(user, limits);
    await portal.array(user, withApp);
    const second = {
      name: name('tank'),
      provider: 'local',
      engine: 'engine_small',
      drives: { SSD_10GB: 2 },
      ...withApp,
    };
    const { problems } = await refused(
      user.client.arrays.create(second),
      400,
      /app_small would make it 2 cores, 2 GiB/,
    );
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['app_engine'],
    );
    assert.equal((await user.client.arrays.list()).data.length, 1);
    await newCompute(user, limits);
    await portal.array(user, withApp);
    await refused(user.client.computes.delete({ id: account.id }), 409, /the arrays have 2 cores, 2 GiB and 2 arrays/);
  });
}

test('an app engine that is asked for later is limited, too; one that an array has already counts once', async () => {
  const user = await newUser();
  const { id } = await portal.array(user, withApp);
  await newCompute(user, { cores: 1 });
  const change = (arrayId: number) =>
    user.client.arrays.setEngine({ array_id: arrayId, engine: 'engine_small', ...withApp });
  await change(id);
  await user.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
  const next = await portal.array(user, withApp);
  await change(next.id);
});

test('an account that is asked for with moderate waits, also for those who may act at once', async () => {
  const user = await newUser();
  const display_name = name('farm');
  const { message } = await user.client.computes.create({ provider_id: 1, display_name, moderate: true });
  assert.match(message, /waits for an administrator/);
  assert.deepEqual((await user.client.computes.list()).data, []);
  const [request] = (await user.client.arrayRequests.list({ status: 'pending' })).data;
  assert.deepEqual([request?.kind, request?.name], ['create_compute', display_name]);
  await admin.client.arrayRequests.approve({ id: request?.id ?? 0, name: display_name });
  assert.equal((await user.client.computes.list()).data[0]?.display_name, display_name);
});

test('arrays that have more than a later account allows may change, but not take more', async () => {
  const user = await newUser();
  const [first] = [await portal.array(user, withApp), await portal.array(user, withApp)];
  await newCompute(user, { instances: 1 });
  await user.client.arrays.setEngine({ array_id: first.id, engine: 'engine_small', ...withApp });
  const third = { name: name('tank'), provider: 'local', engine: 'engine_small', drives: { SSD_10GB: 2 }, ...withApp };
  await refused(user.client.arrays.create(third), 400, /3 arrays; your compute accounts/);
});

test('what goes with the last compute account are its limits; an ordinary user asks an administrator for that', async () => {
  const display_name = name('farm');
  await owner.client.computes.create({ provider_id: 1, display_name, instances: 1 });
  const pending = async () => (await owner.client.arrayRequests.list({ status: 'pending' })).data.at(-1)!;
  await admin.client.arrayRequests.approve({ id: (await pending()).id, name: display_name });
  const account = (await owner.client.computes.list()).data.find((one) => one.display_name === display_name)!;
  const { message } = await owner.client.computes.delete({ id: account.id });
  const request = await pending();
  assert.match(message, new RegExp(`waits for an administrator as request ${request.id}`));
  assert.deepEqual([request.kind, request.name], ['delete_compute', display_name]);
  assert.equal((await owner.client.computes.get({ id: account.id })).data.id, account.id);
  await admin.client.arrayRequests.approve({ id: request.id, name: display_name });
  await refused(owner.client.computes.get({ id: account.id }), 404, /There is no compute account/);
  const user = await newUser();
  const own = await newCompute(user, { instances: 1 });
  await portal.array(user, withApp);
  assert.match((await user.client.computes.delete({ id: own.id })).message, /was removed/);
  await portal.array(user, withApp);
});
