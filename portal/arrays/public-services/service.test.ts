import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startFakeObjects } from '../../testing/fake-objects.ts';
import { refused, startTestPortal } from '../../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { friend, otherUser } = portal;
const { publicObjects } = friend.client;

const service = {
  account_name: 'public',
  admin_username: 'carol',
  admin_password: 'correct horse battery',
  ip: '192.0.2.7:8080',
  host: 'objects.example.org',
};

test('a public service is opened, shown with the array, changed in part and withdrawn', async () => {
  const { id } = await portal.objectArray(friend);
  await refused(publicObjects.get({ array_id: id }), 404, /There is no public object service of array bucket-\d+/);
  const { data, message } = await publicObjects.create({ array_id: id, ...service });
  assert.match(message, /was created/);
  const { id: number, ...rest } = data;
  assert.deepEqual(rest, {
    array_id: id,
    account_name: 'public',
    username: 'carol',
    ip: '192.0.2.7:8080',
    host: 'objects.example.org',
    auto_approve: false,
    price: '0',
  });
  assert.deepEqual((await friend.client.arrays.get({ array_id: id })).data.public_objs, data);
  const changed = await publicObjects.update({ array_id: id, host: 'new.example.org', auto_approve: true });
  assert.deepEqual(changed.data, { ...data, host: 'new.example.org', auto_approve: true });
  assert.equal((await friend.client.arrays.get({ array_id: id })).data.public_objs?.host, 'new.example.org');
  assert.equal((await publicObjects.get({ array_id: id })).data.id, number);
  await publicObjects.delete({ array_id: id });
  assert.equal((await friend.client.arrays.get({ array_id: id })).data.public_objs, null);
  await refused(publicObjects.delete({ array_id: id }), 404, /There is no public object service/);
  await refused(publicObjects.update({ array_id: id, host: 'x.org' }), 404, /There is no public object service/);
});

test('an array has one public service', async () => {
  const { id } = await portal.objectArray(friend);
  await publicObjects.create({ array_id: id, ...service });
  const again = publicObjects.create({ array_id: id, ...service, host: 'other.example.org' });
  await refused(again, 409, /is there already, as objects\.example\.org/);
});

test('a public service is for object storage that is up or asleep', async () => {
  const block = await portal.array(friend);
  await refused(publicObjects.create({ array_id: block.id, ...service }), 409, /is not an object storage array/);
  const { id } = await portal.objectArray(friend);
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
  await refused(
    publicObjects.create({ array_id: id, ...service }),
    409,
    /is deleted; .* needs it to be created or hibernated/,
  );
});

test('the address must be one: ip and port', async () => {
  const { id } = await portal.objectArray(friend);
  for (const ip of [
    '192.0.2.7',
    'objects.example.org:80',
    '300.1.1.1:80',
    '192.0.2.7:0',
    '192.0.2.7:99999',
    ':80',
    '[zz]:80',
  ]) {
    const { problems } = await refused(publicObjects.create({ array_id: id, ...service, ip }), 400, /ip /);
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['ip'],
    );
  }
  const { data } = await publicObjects.create({ array_id: id, ...service, ip: '[2001:db8::1]:443' });
  assert.equal(data.ip, '[2001:db8::1]:443');
});

test('the public service of another array owner is not found', async () => {
  const { id } = await portal.objectArray(friend);
  await publicObjects.create({ array_id: id, ...service });
  await refused(otherUser.client.publicObjects.get({ array_id: id }), 404, new RegExp(`^There is no array ${id}\\.$`));
  await refused(otherUser.client.publicObjects.delete({ array_id: id }), 404, /There is no array/);
});

test('no reply carries the password of the public service', async () => {
  const { id } = await portal.objectArray(friend);
  const path = `/api/arrays/${id}/public_objs`;
  const made = await portal.send(friend, { method: 'POST', path, body: service });
  const shown = await portal.send(friend, { method: 'GET', path });
  for (const { text } of [made, shown]) assert.doesNotMatch(text, /password|correct horse/);
});

test('sign-ups at an array are approved by the portal where the public service says so, and only there', async () => {
  const objects = await startFakeObjects();
  portal.onStop(() => objects.stop());
  portal.cloud.managementUrl = objects.url;
  const { id, name } = await portal.objectArray(friend);
  portal.cloud.managementUrl = undefined;
  objects.accounts.set('1'.repeat(32), { name: 'taken' });
  objects.signUps.set(1, { account: 'webhosting', state: 'pending' });
  objects.signUps.set(2, { account: 'taken', state: 'pending' });
  objects.signUps.set(3, { account: 'shop', state: 'pending' });
  const states = () => [...objects.signUps.values()].map(({ state }) => state);
  await publicObjects.create({ array_id: id, ...service });
  await portal.services.signUps.poll();
  assert.deepEqual(states(), ['pending', 'pending', 'pending']);
  await publicObjects.update({ array_id: id, auto_approve: true });
  await portal.services.signUps.poll();
  assert.deepEqual(states(), ['approved', 'denied', 'approved']);
  const { data } = await portal.admin.client.events.list();
  const recorded = data.filter(({ msg_title: title }) => title.includes(`at array ${name} and approved`));
  assert.equal(recorded.length, 2);
  await publicObjects.delete({ array_id: id });
  objects.signUps.set(4, { account: 'late', state: 'pending' });
  await portal.services.signUps.poll();
  assert.equal(objects.signUps.get(4)?.state, 'pending');
});
