import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SentTo } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { MB } from '../units.ts';

const { servers, serverTags, messages, volumes } = arrayApi.groups;
const IQN = 'iqn.2026-01.org.example:web-1';

type Wanted = SentTo<typeof servers.create>;

test('a server is listed and shown with every field, and its changes last over a restart', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const { server_name: name } = await client.call(servers.create, {
    display_name: 'web-1',
    os: 'Linux',
    iqn: IQN,
    iscsi: '10.0.0.0/24',
  });
  assert.equal(name, 'srv-00000001');
  await client.call(servers.create, { display_name: 'web-2', iscsi: '2001:DB8::7' });
  const { servers: all, count } = await client.call(servers.list, { start: 0, limit: 1 });
  assert.deepEqual([count, all.length], [2, 1]);
  const { created_at, modified_at, last_check_time: _, ...first } = all[0]!;
  assert.equal(created_at, modified_at);
  assert.deepEqual(first, {
    name: 'srv-00000001',
    display_name: 'web-1',
    iqn: IQN,
    iscsi_ip: '10.0.0.0/24',
    ipsec_iscsi: 'NO',
    ipsec_nfs: 'NO',
    status: 'Disconnected',
    os: 'Linux',
    registered: 'NO',
    last_state_change_time: null,
  });
  await client.call(servers.rename, { id: name, new_name: 'web one' });
  await client.call(servers.update, { id: name, os: 'ESXi', iscsi: '10.0.0.9' });
  await array.restart();
  const { server } = await client.call(servers.get, { id: name });
  assert.deepEqual(
    [server.display_name, server.os, server.iqn, server.iscsi_ip],
    ['web one', 'ESXi', IQN, '10.0.0.9'],
    'what is not sent stays as it is',
  );
  assert.equal((await client.call(servers.get, { id: 'srv-00000002' })).server.iscsi_ip, '2001:db8::7');
});

test('a server that is removed takes its tags along; its name is never used again', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  await client.call(serverTags.create, { id: 'srv-00000001', key: 'rack', value: '7' });
  await client.call(servers.delete, { id: 'srv-00000001' });
  assert.equal((await client.refused(servers.get, { id: 'srv-00000001' })).code, 10086);
  assert.equal((await client.refused(serverTags.list, { id: 'srv-00000001' })).code, 10086);
  const { server_name } = await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  assert.equal(server_name, 'srv-00000002');
  const { messages: reported } = await client.call(messages.list, { attr_key: 'server' });
  assert.deepEqual(
    reported.map(({ msg_title }) => msg_title).filter((title) => !title.includes('ag')),
    [
      'Server web-1 (srv-00000002) was added.',
      'Server web-1 (srv-00000001) was removed.',
      'Server web-1 (srv-00000001) was added.',
    ],
  );
});

test('an address or network is the same however it is spelt', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  for (const [first, again, shown] of [
    ['10.0.0.0/24', '10.0.0.7/24', '10.0.0.0/24'],
    ['fd00::7', 'FD00:0:0:0:0:0:0:7', 'fd00::7'],
    ['fd00:0:0:1::9/64', 'fd00:0:0:1:0::/064', 'fd00:0:0:1::/64'],
    ['10.1.0.9', '::ffff:10.1.0.9', '10.1.0.9'],
  ] as const) {
    const { server_name: id } = await client.call(servers.create, { display_name: shown, iscsi: first });
    assert.equal((await client.call(servers.get, { id })).server.iscsi_ip, shown);
    const twin = await client.refused(servers.create, { display_name: 'twin', iscsi: again });
    assert.match(twin.message, new RegExp(`\\(${id}\\) has the same iqn and address already`));
  }
});

test('what a server cannot be is refused by name, and nothing is made', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  await client.call(servers.create, { display_name: 'web-1', iqn: IQN, wwpns: ['5001438011364FD2'] });
  const chap = { arraychapuser: 'web', arraychapsecret: 'twelve bytes' };
  const refusals: readonly (readonly [Partial<Wanted>, number, string])[] = [
    [{}, 7, 'iqn is required, unless iscsi or wwpns is given.'],
    [{ iqn: 'web-2' }, 7, 'iqn must be an iSCSI name: it begins with iqn., eui. or naa. and has no spaces or commas.'],
    [
      { iqn: 'iqn.a b' },
      7,
      'iqn must be an iSCSI name: it begins with iqn., eui. or naa. and has no spaces or commas.',
    ],
    ...['10.0.0', '10.0.0.256', '10.0.0.1/33', '10.0.0.1/', 'fe80::1%eth0', '::1/129', '10.0.0.1/8/8', 'host'].map(
      (iscsi) =>
        [{ iscsi }, 7, 'iscsi must be an IP address such as 10.0.0.7, or a network such as 10.0.0.0/24.'] as const,
    ),
    [{ wwpns: ['50:01:43:80:11:36:4f'] }, 7, 'wwpns must be Fibre Channel port names such as 50:01:43:80:11:36:4f:d2.'],
    [
      { wwpns: ['50:01:43:80:11:36:4f:d2'] },
      10100,
      'WWPN 50:01:43:80:11:36:4f:d2 belongs to server web-1 (srv-00000001); remove it there first.',
    ],
    [
      { iqn: IQN.toUpperCase().replace('IQN', 'iqn') },
      10100,
      'Server web-1 (srv-00000001) has the same iqn and address already; use that one, give another address, or use force=YES.',
    ],
    [
      { ...chap, iqn: 'iqn.x:1', arraychapsecret: 'eleven byte' },
      7,
      'arraychapsecret must have at least 12 characters.',
    ],
    [
      { ...chap, iqn: 'iqn.x:1', arraychapsecret: 'seventeen bytes !' },
      7,
      'arraychapsecret must have at most 16 characters.',
    ],
    [{ iqn: 'iqn.x:1', arraychapuser: 'web' }, 7, 'arraychapsecret is required with arraychapuser.'],
    [{ iqn: 'iqn.x:1', arraychapsecret: 'twelve bytes' }, 7, 'arraychapuser is required with arraychapsecret.'],
    [
      { iqn: 'iqn.x:1', hostchapuser: 'array', hostchapsecret: 'twelve bytes' },
      7,
      'arraychapuser is required with hostchapuser: the server has to prove itself first.',
    ],
    [
      { iqn: 'iqn.x:1', ...chap, hostchapuser: 'array', hostchapsecret: 'twelve bytes' },
      7,
      'hostchapsecret must differ from arraychapsecret.',
    ],
    [
      { iqn: 'iqn.x:1', ipsec_iscsi: true },
      10109,
      'This array does not encrypt its network traffic: leave ipsec_iscsi out or set it to NO, and put IPsec on the network if it is needed.',
    ],
    [
      { iqn: 'iqn.x:1', ipsec_nfs: true },
      10109,
      'This array does not encrypt its network traffic: leave ipsec_nfs out or set it to NO, and put IPsec on the network if it is needed.',
    ],
    [{ iqn: 'iqn.x:1', os: 'BeOS' as never }, 7, 'os must be one of Windows, Linux, Solaris, AIX, ESXi.'],
    [{ iqn: 'iqn.x:1', display_name: 'web-1' }, 10096, 'The name web-1 is taken; choose another.'],
  ];
  for (const [wanted, code, message] of refusals) {
    const refused = await client.refused(servers.create, { display_name: 'web-2', ...wanted });
    assert.deepEqual([refused.code, refused.message], [code, message], JSON.stringify(wanted));
    assert.ok(!refused.message.includes('twelve'), 'no secret in an error');
  }
  assert.equal((await client.call(servers.list, {})).count, 1);
  const forced = await client.call(servers.create, { display_name: 'web-2', iqn: IQN, force: true });
  assert.equal(forced.server_name, 'srv-00000002');
  const sameNameElsewhere = await client.call(servers.create, { display_name: 'web-3', iqn: IQN, iscsi: '10.0.0.3' });
  assert.equal(sameNameElsewhere.server_name, 'srv-00000003');
});

test('a change of a server is held to the same rules', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  await client.call(servers.create, { display_name: 'web-1', wwpns: ['50:01:43:80:11:36:4f:d2'] });
  await client.call(servers.create, { display_name: 'web-2', iqn: IQN });
  const id = 'srv-00000001';
  const refusals: readonly (readonly [Omit<SentTo<typeof servers.update>, 'id'>, number, RegExp])[] = [
    [{ remove_wwpns: ['5001438011364fd2'] }, 7, /^remove_wwpns would leave nothing/],
    [{ iqn: IQN }, 10100, /^Server web-2 \(srv-00000002\) has the same iqn and address already/],
    [{ display_name: 'web-2' }, 10096, /web-2 is taken/],
    [{ ipsec_nfs: true }, 10109, /leave ipsec_nfs out/],
    [{ arraychapsecret: 'eleven byte' }, 7, /^arraychapsecret must be 12 to 16 characters, or empty/],
    [{ hostchapuser: 'array' }, 7, /^hostchapsecret is required with hostchapuser/],
  ];
  for (const [change, code, message] of refusals) {
    const refused = await client.refused(servers.update, { id, ...change });
    assert.equal(refused.code, code, JSON.stringify(change));
    assert.match(refused.message, message);
  }
  assert.equal((await client.refused(servers.update, { id: 'srv-9', os: 'AIX' })).code, 10086);
  assert.equal((await client.refused(servers.rename, { id: 'srv-9', new_name: 'x' })).code, 10086);
  assert.equal((await client.refused(servers.rename, { id, new_name: 'web-2' })).code, 10096);
  assert.equal((await client.refused(servers.delete, { id: 'srv-9' })).code, 10086);
  await client.call(servers.update, { id, iqn: 'iqn.x:2', remove_wwpns: ['5001438011364fd2'], monitoring: false });
  await client.call(servers.update, { id: 'srv-00000002', add_wwpns: ['50:01:43:80:11:36:4f:d2'] });
  await client.call(servers.update, { id, arraychapuser: 'web', arraychapsecret: 'twelve bytes' });
  await client.call(servers.update, { id, arraychapuser: '', arraychapsecret: '' });
});

test('attaching is all or nothing, and each refusal says why', async (t) => {
  const array = await testArray(t);
  const { client } = array;
  const pool = await array.pool();
  const make = (name: string) => array.volume(pool, { name });
  const [one, two, three] = [await make('one'), await make('two'), await make('three')];
  for (const number of [1, 2])
    await client.call(servers.create, { display_name: `web-${number}`, iqn: `iqn.x:${number}` });
  await client.call(servers.create, { display_name: 'fc', wwpns: ['50:01:43:80:11:36:4f:d2'] });
  const [first, second, fibre] = ['srv-00000001', 'srv-00000002', 'srv-00000003'];
  const attach = (input: SentTo<typeof servers.attachVolumes>) => client.call(servers.attachVolumes, input);
  const lunsOf = async (id: string) =>
    (await client.call(servers.listVolumes, { id })).volumes.map(({ name, lun }) => [name, lun]);

  await attach({ id: [first], volume_name: [two, one], access_type: 'ISCSI' });
  assert.deepEqual(await lunsOf(first), [
    [one, 1],
    [two, 0],
  ]);
  await attach({ id: [first], volume_name: [one], lun: 1 });
  const refusals: readonly (readonly [SentTo<typeof servers.attachVolumes>, number, string])[] = [
    [{ id: ['srv-9'], volume_name: [three] }, 10086, 'Server srv-9 was not found.'],
    [{ id: [first], volume_name: [three, 'volume-9'] }, 10081, 'Volume volume-9 was not found.'],
    [{ id: [first], volume_name: ['volume-00000001'] }, 10081, 'Volume volume-00000001 was not found.'],
    [
      { id: [first], volume_name: [three], access_type: 'NFS' },
      7,
      `access_type must be ISCSI: ${three} is a block volume.`,
    ],
    [
      { id: [second], volume_name: [three, one] },
      10103,
      `Volume one (${one}) is attached to web-1 (${first}); detach it first, or use force=YES.`,
    ],
    [
      { id: [first], volume_name: [one], lun: 4 },
      10100,
      `Volume one (${one}) is attached to server web-1 (${first}) as LUN 1 already; detach it first.`,
    ],
    [
      { id: [first], volume_name: [one], readonly: true },
      10100,
      `Volume one (${one}) is attached to server web-1 (${first}) already; change what it may do with POST /volumes/${one}/attach_permissions.`,
    ],
    [
      { id: [first], volume_name: [three], lun: 0 },
      10106,
      `LUN 0 is taken on server web-1 (${first}); choose another or leave it out.`,
    ],
    [{ id: [first], volume_name: [two, three], lun: 5 }, 7, 'lun can be given for one volume only.'],
    [{ id: [first], volume_name: [three], lun: 16_384 }, 7, 'lun must be at most 16383.'],
    [
      { id: [fibre], volume_name: [three] },
      10100,
      `Server fc (${fibre}) has Fibre Channel ports only, and this array serves volumes over iSCSI; give the server an iqn or an address first.`,
    ],
  ];
  for (const [input, code, message] of refusals) {
    const refused = await client.refused(servers.attachVolumes, input);
    assert.deepEqual([refused.code, refused.message], [code, message]);
  }
  assert.equal((await lunsOf(first)).length, 2, 'what was refused attached nothing');
  assert.deepEqual(await lunsOf(second), []);

  await attach({ id: [first, second], volume_name: [three], lun: 9 });
  await attach({ id: [second], volume_name: [one], readonly: true, force: true });
  assert.deepEqual(await lunsOf(second), [
    [one, 0],
    [three, 9],
  ]);
  const { servers: ofOne, count } = await client.call(volumes.listServers, { id: one, start: 1, limit: 1 });
  assert.deepEqual([count, ofOne.length], [2, 1]);
  const { name, lun, read_only, access_type, ipsec, pm_status, target } = ofOne[0]!;
  assert.deepEqual([name, lun, read_only, access_type], [second, 0, 'YES', 'ISCSI']);
  assert.deepEqual([ipsec, pm_status], ['NO', 'Disconnected']);
  assert.match(target!, /^iqn\..*vsa-00000001/);

  const held = await client.refused(servers.delete, { id: second });
  assert.deepEqual(
    [held.code, held.message],
    [10100, `Server web-2 (${second}) still has one (${one}), three (${three}) attached; detach them first.`],
  );
  assert.equal((await client.refused(volumes.detach, { id: one, servers: [first, 'srv-9'] })).code, 10086);
  const apart = await client.refused(volumes.detach, { id: two, servers: [first, second] });
  assert.deepEqual(
    [apart.code, apart.message],
    [10086, `Volume two (${two}) is not attached to server web-2 (${second}).`],
  );
  assert.equal((await lunsOf(first)).length, 3, 'detaching is all or nothing too');
  await client.call(volumes.detach, { id: one, servers: [first, second] });
  await client.call(volumes.detach, { id: three, servers: [second] });
  await client.call(servers.delete, { id: second });
  await attach({ id: [first], volume_name: [one] });
  assert.deepEqual(await lunsOf(first), [
    [one, 1],
    [two, 0],
    [three, 9],
  ]);
});

test('of callers who want one LUN at the same time, one gets it; without a LUN each gets another', async (t) => {
  const array = await testArray(t);
  const { client } = array;
  const pool = await array.pool();
  const names = await Promise.all(Array.from({ length: 6 }, () => array.volume(pool)));
  await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  const wants = names.slice(0, 2).map((name) => ({ id: ['srv-00000001'], volume_name: [name], lun: 3 }));
  const answers = await Promise.allSettled(wants.map((want) => client.call(servers.attachVolumes, want)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  await Promise.all(
    names.slice(2).map((name) => client.call(servers.attachVolumes, { id: ['srv-00000001'], volume_name: [name] })),
  );
  const { volumes: attached } = await client.call(servers.listVolumes, { id: 'srv-00000001' });
  assert.deepEqual(attached.map(({ lun }) => lun).toSorted(), [0, 1, 2, 3, 4]);
});

test('a server gets the iqn and address of another one only by force', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  const { server_name: id } = await client.call(servers.create, { display_name: 'web-2', iqn: 'iqn.x:2' });
  const iqn = async () => (await client.call(servers.get, { id })).server.iqn;
  for (const change of [{ iqn: IQN }, { iqn: IQN, force: false }]) {
    assert.match((await client.refused(servers.update, { id, ...change })).message, /or use force=YES\.$/);
    assert.equal(await iqn(), 'iqn.x:2');
  }
  await client.call(servers.update, { id, iqn: IQN, force: true });
  assert.equal(await iqn(), IQN);
});

test('whether a server is watched is shown where a volume is attached to it', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const volume = await array.volume(await array.pool());
  const { server_name: id } = await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  await client.call(servers.attachVolumes, { id: [id], volume_name: [volume] });
  const shown = async () => (await client.call(volumes.listServers, { id: volume })).servers[0]!.pm_status;
  assert.equal(await shown(), 'Disconnected');
  await client.call(servers.update, { id, monitoring: false });
  assert.equal(await shown(), 'Not monitored');
  await client.call(servers.update, { id, monitoring: true });
  assert.equal(await shown(), 'Disconnected');
});

test('a server that is connected does not hold up a detach, with force or without', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const pool = await array.pool();
  for (const force of [{}, { force: false }, { force: true }]) {
    const id = await array.volume(pool, { capacity: '10M' });
    const disk = await testDisk(t, array, id);
    await disk.write(0, Buffer.alloc(MB, 1));
    const { servers: attached } = await client.call(volumes.listServers, { id });
    await client.call(volumes.detach, { id, servers: attached.map(({ name }) => name), ...force });
    await assert.rejects(disk.write(0, Buffer.alloc(MB, 2)), JSON.stringify(force));
    assert.equal((await client.call(volumes.listServers, { id })).count, 0);
  }
});
