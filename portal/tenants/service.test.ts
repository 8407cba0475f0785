import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fixture } from './fixture.ts';
import { addTenantsOfProvider, addTenantsOfUser, findTenant, TenantService, tenantOfProvider } from './service.ts';

const all = { start: 0, limit: 0 };

test('every user is a tenant of every provider, whichever came first, numbered within the provider', async (context) => {
  const fixture = new Fixture(context);
  const admin = await fixture.user('admin', 'admin');
  const ann = await fixture.user('ann');
  const cloud = await fixture.cloud('here');
  const local = await fixture.provider('local', cloud);
  const bob = await fixture.user('bob');
  const east = await fixture.provider('east', cloud);

  const { tenants, total } = new TenantService(fixture.tools).list(admin, all);
  assert.equal(total, 6);
  const shown = tenants.map((one) => [one.username, one.provider_id, one.internal_id, one.name]);
  assert.deepEqual(shown, [
    ['admin', local, 1, 'admin@local'],
    ['ann', local, 2, 'ann@local'],
    ['bob', local, 3, 'bob@local'],
    ['admin', east, 1, 'admin@east'],
    ['ann', east, 2, 'ann@east'],
    ['bob', east, 3, 'bob@east'],
  ]);
  assert.equal(
    fixture.tools.store.read((db) => findTenant(db, { userId: ann.userId, providerId: east }))?.internalId,
    2,
  );
  assert.equal(bob.userId, tenants[2]?.user_id);
});

test('adding tenants again adds none', async (context) => {
  const fixture = new Fixture(context);
  const ann = await fixture.user('ann');
  const local = await fixture.provider('local', await fixture.cloud('here'));
  await fixture.tools.store.write((tx) => {
    addTenantsOfUser(tx, ann.userId, 'ann');
    addTenantsOfProvider(tx, local);
  });
  assert.equal(new TenantService(fixture.tools).list(ann, all).total, 1);
});

test('a user lists their own tenants, an administrator all, a page at a time', async (context) => {
  const fixture = new Fixture(context);
  const admin = await fixture.user('admin', 'admin');
  const ann = await fixture.user('ann');
  const cloud = await fixture.cloud('here');
  await fixture.provider('local', cloud);
  await fixture.provider('east', cloud);
  const tenants = new TenantService(fixture.tools);

  assert.deepEqual(
    tenants.list(ann, all).tenants.map((one) => one.name),
    ['ann@local', 'ann@east'],
  );
  const { tenants: page, total } = tenants.list(admin, { start: 1, limit: 2 });
  assert.deepEqual([page.map((one) => one.name), total], [['ann@local', 'admin@east'], 4]);
});

test('a tenant of another user, of another provider, or of a closed provider is not found', async (context) => {
  const fixture = new Fixture(context);
  const admin = await fixture.user('admin', 'admin');
  const ann = await fixture.user('ann');
  const bob = await fixture.user('bob');
  const cloud = await fixture.cloud('here');
  const local = await fixture.provider('local', cloud);
  const east = await fixture.provider('east', cloud);
  const closed = await fixture.provider('closed', cloud, false);
  const find = (actor: typeof ann, tenantId: number, providerId: number) =>
    fixture.tools.store.read((db) => tenantOfProvider(db, actor, { tenantId, providerId }));

  assert.equal(find(ann, fixture.tenantOf(ann, local), local).name, 'ann@local');
  assert.equal(find(admin, fixture.tenantOf(bob, closed), closed).name, 'bob@closed');
  assert.throws(() => find(ann, fixture.tenantOf(bob, local), local), {
    message: 'There is no tenant 3 at provider local.',
  });
  assert.throws(() => find(ann, fixture.tenantOf(ann, local), east), { entry: 'not_found' });
  assert.throws(() => find(ann, fixture.tenantOf(ann, closed), closed), { message: `There is no provider ${closed}.` });
  assert.throws(() => find(ann, 1, 99), { message: 'There is no provider 99.' });
});
