import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { arrayApi } from '@granary/contract/array';
import { skipWithout } from '../../protocols/iscsi/testing/index.ts';
import { testArray } from '../testing/test-array.ts';

/**
 * CHAP with initiators that are not ours. libiscsi, and QEMU over it, offers `CHAP,None` when it has a secret, and
 * repeats its names in the second stage of the login.
 */
const { servers, controllers } = arrayApi.groups;
const IQN = 'iqn.2026-01.org.example:web-1';
const RUN_MS_MAX = 60_000;
const run = promisify(execFile);

interface Secrets {
  readonly user?: string;
  readonly password?: string;
  readonly targetUser?: string;
  readonly targetPassword?: string;
}

type Outcome = 'admitted' | 'refused';

async function outcomeOf(program: string, args: readonly string[]): Promise<Outcome> {
  try {
    await run(program, args, { timeout: RUN_MS_MAX });
    return 'admitted';
  } catch (error) {
    const text = String((error as { stderr?: string }).stderr) + String((error as { stdout?: string }).stdout);
    assert.match(text, /auth|0x0?201|login|CHAP/i, `${program} failed for another reason: ${text}`);
    return 'refused';
  }
}

function libiscsiUrl(portal: string, path: string, { user, password, targetUser, targetPassword }: Secrets): string {
  const sign = user === undefined ? '' : `${user}%${password}@`;
  const mutual = targetUser === undefined ? '' : `?target_user=${targetUser}&target_password=${targetPassword}`;
  return `iscsi://${sign}${portal}${path}${mutual}`;
}

async function setUp(t: TestContext) {
  const array = await testArray(t);
  const { client } = array;
  const volume = await array.volume(await array.pool());
  const { server_name: server } = await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  await client.call(servers.attachVolumes, { id: [server], volume_name: [volume] });
  const { vcontrollers } = await client.call(controllers.list, {});
  const controller = vcontrollers.find(({ state }) => state === 'active')!;
  const portal = `${array.configuration.management.host}:${array.configuration.dataPort}`;
  const { target } = controller;
  const clients = {
    'iscsi-inq': (secrets: Secrets) =>
      outcomeOf('iscsi-inq', ['-i', IQN, libiscsiUrl(portal, `/${target}/0`, secrets)]),
    'iscsi-ls': (secrets: Secrets) => outcomeOf('iscsi-ls', ['-i', IQN, libiscsiUrl(portal, '', secrets)]),
    'qemu-img': ({ user, password }: Secrets) => {
      const place = `driver=iscsi,transport=tcp,portal=${portal},target=${target},lun=0,initiator-name=${IQN}`;
      const sign = user === undefined ? '' : `,user=${user},password-secret=chap`;
      const secret = user === undefined ? [] : ['--object', `secret,id=chap,data=${password}`];
      return outcomeOf('qemu-img', ['info', ...secret, '--image-opts', `${place}${sign}`]);
    },
  };
  const change = (settings: object) => client.call(servers.update, { id: server, ...settings });
  return { client, controller, clients, change };
}

const skip = await skipWithout('libiscsi-bin', 'qemu-utils', 'qemu-block-extra');

test('libiscsi and QEMU are admitted with the right CHAP secret and refused with a wrong one', { skip }, async (t) => {
  const { controller, clients, change } = await setUp(t);
  const expect = async (secrets: Secrets, wanted: Outcome, why: string) => {
    for (const [name, connect] of Object.entries(clients))
      assert.equal(await connect(secrets), wanted, `${name}: ${why}`);
  };
  const shown = { user: controller.array_chap_user, password: controller.array_chap_secret };
  await expect({}, 'admitted', 'no secret where none is required');
  await expect(shown, 'admitted', 'the secret of the array');
  await expect({ ...shown, password: 'another-secret' }, 'refused', 'a wrong secret of the array');
  await change({ arraychapuser: shown.user });
  await expect(shown, 'admitted', 'the secret of the array where it is required');
  await expect({}, 'refused', 'no secret where the array’s is required');
  await change({ arraychapuser: 'web', arraychapsecret: 'twelve-bytes' });
  const own = { user: 'web', password: 'twelve-bytes' };
  await expect(own, 'admitted', 'the secret of the server');
  await expect({}, 'refused', 'no secret');
  await expect({ ...own, password: 'wrong-secret' }, 'refused', 'a wrong secret');
  await expect({ ...own, user: 'other' }, 'refused', 'a wrong name');
  await expect(shown, 'refused', 'the secret of the array where the server has its own');
});

test('libiscsi is shown the array’s proof, and leaves when it is wrong', { skip }, async (t) => {
  const { clients, change } = await setUp(t);
  await change({ arraychapuser: 'web', arraychapsecret: 'twelve-bytes' });
  await change({ hostchapuser: 'array', hostchapsecret: 'another-secret' });
  const own = { user: 'web', password: 'twelve-bytes' };
  for (const connect of [clients['iscsi-inq'], clients['iscsi-ls']]) {
    assert.equal(await connect({ ...own, targetUser: 'array', targetPassword: 'another-secret' }), 'admitted');
    assert.equal(await connect({ ...own, targetUser: 'array', targetPassword: 'not-that-secret' }), 'refused');
    assert.equal(
      await connect({ ...own, password: 'wrong', targetUser: 'array', targetPassword: 'another-secret' }),
      'refused',
    );
  }
});

test('libiscsi is shown the array’s own proof where the server has none', { skip }, async (t) => {
  const { client, controller, clients } = await setUp(t);
  const shown = { user: controller.array_chap_user, password: controller.array_chap_secret };
  await client.call(controllers.setChap, { host_chap_user: 'granary', host_chap_secret: 'proof-of-array' });
  for (const connect of [clients['iscsi-inq'], clients['iscsi-ls']]) {
    assert.equal(await connect({ ...shown, targetUser: 'granary', targetPassword: 'proof-of-array' }), 'admitted');
    assert.equal(await connect({ ...shown, targetUser: 'granary', targetPassword: 'not-that-secret' }), 'refused');
    assert.equal(await connect(shown), 'admitted');
  }
});
