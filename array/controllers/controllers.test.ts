import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import type { ArrayTools } from '../tools.ts';
import { Failover } from './failover.ts';

const { controllers, users, messages } = arrayApi.groups;
const ACTIVE = 'vsa-00000001-vc-0';
const STANDBY = 'vsa-00000001-vc-1';

test('an array has two controllers of one target; their secret is shown to administrators alone', async (t) => {
  const { client, anybody, configuration } = await testArray(t, { drives: 2 });
  const { vcontrollers, count } = await client.call(controllers.list, {});
  assert.equal(count, 2);
  assert.deepEqual(
    vcontrollers.map(({ name, index, state, integrity_status }) => [name, index, state, integrity_status]),
    [
      [ACTIVE, 0, 'active', 'normal'],
      [STANDBY, 1, 'standby', 'normal'],
    ],
  );
  for (const controller of vcontrollers) {
    assert.equal(controller.target, 'iqn.2025-11.io.granary:vsa-00000001');
    assert.equal(controller.iscsi_ip, configuration.management.host);
    assert.match(controller.array_chap_secret, /^\w{16}$/);
    assert.deepEqual([controller.heartbeat1, controller.heartbeat2], ['ok', 'ok']);
  }
  const { initial_password } = await client.call(users.create, { username: 'jo' });
  const { user } = await anybody.call(users.login, { user: 'jo', password: initial_password! });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  const seen = (await jo.call(controllers.list, { start: 1, limit: 1 })).vcontrollers;
  assert.deepEqual(
    seen.map(({ name, array_chap_secret }) => [name, array_chap_secret]),
    [[STANDBY, '']],
  );
  assert.equal((await jo.refused(controllers.failover, {})).code, 6);
});

test('after a failover the other controller serves the same disks at the same address, and who asked is on record', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const disk = await testDisk(t, array, await array.volume(await array.pool()));
  const bytes = Buffer.alloc(2 ** 20, 0x42);
  await disk.write(3, bytes);
  const vcOf = async (id: string) => (await client.call(controllers.listSessions, { id })).sessions.map(({ vc }) => vc);
  assert.deepEqual([await vcOf(ACTIVE), await vcOf(STANDBY)], [[ACTIVE], []]);
  await client.call(controllers.failover, {});
  await disk.login(t);
  assert.ok((await disk.read(3, 1)).equals(bytes));
  assert.deepEqual([await vcOf(ACTIVE), await vcOf(STANDBY)], [[], [STANDBY]]);
  const states = (await client.call(controllers.list, {})).vcontrollers.map(({ state }) => state);
  assert.deepEqual(states, ['standby', 'active']);
  const { messages: reported } = await client.call(messages.list, { limit: 50 });
  assert.ok(
    reported.some(({ msg_title }) => msg_title === `Controller ${STANDBY} took over from ${ACTIVE}, as asked.`),
  );
  assert.equal((await client.refused(controllers.listSessions, { id: 'vsa-00000001-vc-7' })).code, 10087);
});

test('a failover is refused while a RAID group is failed or recovers or no standby is ready, unless it is forced', async () => {
  const asked: string[] = [];
  const reported = (groups: readonly string[], states: readonly string[]) =>
    new Failover({
      engine: {
        controllers: {
          failover: () => {
            asked.push('failover');
            return Promise.resolve();
          },
        },
      },
      readings: {
        refresh: () => Promise.resolve(),
        groups: groups.map((state) => ({ id: 'RaidGroup-1', state })),
        controllers: states.map((state, index) => ({ name: `vc-${index}`, state })),
      },
      store: { write: () => Promise.resolve() },
      configuration: () => ({ internalName: 'vsa-00000001' }),
    } as unknown as ArrayTools);
  const both = ['active', 'standby'];
  await assert.rejects(reported(['failed'], both).run(false, 'dana'), /RaidGroup-1 has failed/);
  await assert.rejects(reported(['recovering'], both).run(false, 'dana'), /RaidGroup-1 is recovering/);
  await assert.rejects(reported([], ['active', 'failed']).run(false, 'dana'), /No standby controller is ready/);
  assert.equal(asked.length, 0);
  await reported(['degraded', 'scrubbing'], both).run(false, 'dana');
  const forced = reported(['recovering'], both);
  const [first, second] = await Promise.allSettled([forced.run(true, 'dana'), forced.run(true, 'dana')]);
  assert.deepEqual([first.status, second.status], ['fulfilled', 'rejected'], 'two at once would undo each other');
  assert.equal(asked.length, 2);
});
