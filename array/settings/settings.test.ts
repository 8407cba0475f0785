import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { startMailServer } from '../../kernel/mail/testing/mail-server.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';

const { settings, users, messages, controllers, drives } = arrayApi.groups;

test('settings start with defaults, keep what is set over a restart, and are for administrators', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client, anybody } = array;
  const first = await client.call(settings.get, {});
  assert.deepEqual(first.settings, {
    recycle_bin: 'NO',
    recycle_bin_hours: 168,
    suspend_seconds: 10,
    encryption_password_set: 'NO',
    is_encryption_active: 'NO',
    cpu_usage_alert: 0,
    mem_usage_alert: 0,
    raid_read_mode: 'balanced',
    dm_concurrency_level: 4,
    smtp_host: null,
    smtp_port: 25,
    smtp_secure: 'NO',
    smtp_user: null,
    smtp_from: null,
    notice_to: null,
    notice_severity: 4,
  });
  const { settings: changed } = await client.call(settings.update, {
    recycle_bin: true,
    recycle_bin_hours: 24,
    smtp_user: 'array',
    smtp_password: 'very secret',
    notice_to: 'ops@example.org, boss@example.org',
  });
  const expected = {
    ...first.settings,
    recycle_bin: 'YES',
    recycle_bin_hours: 24,
    smtp_user: 'array',
    notice_to: 'ops@example.org,boss@example.org',
  };
  assert.deepEqual(changed, expected);
  await array.restart();
  assert.deepEqual((await client.call(settings.get, {})).settings, expected);
  await client.call(settings.update, { notice_to: '' });
  assert.equal((await client.call(settings.get, {})).settings.notice_to, null);
  const { user } = await client.call(users.create, { username: 'jo' });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  assert.equal((await jo.refused(settings.get, {})).code, 6);
  assert.equal((await jo.refused(settings.update, { recycle_bin: false })).code, 6);
  const { messages: reported } = await client.call(messages.list, { attr_key: 'settings' });
  assert.equal(reported[0]!.msg_title, 'Settings were changed: who is mailed.');
  assert.ok(!JSON.stringify(reported).includes('very secret'));
});

test('what makes no sense is refused by name and changes nothing', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  const before = await client.call(settings.get, {});
  const refusals = [
    [{ recycle_bin_hours: 0 }, 7, /^recycle_bin_hours must be at least 1/],
    [{ cpu_usage_alert: 101 }, 7, /^cpu_usage_alert must be at most 100/],
    [{ smtp_host: 'mail.example.org:25' }, 7, /^smtp_host must be the name or address of a mail server/],
    [{ smtp_host: 'two words' }, 7, /^smtp_host must be/],
    [{ smtp_host: '169.254.169.254' }, 13, /link-local, reserved and metadata addresses are refused/],
    [{ smtp_host: 'fe80::1' }, 13, /link-local/],
    [{ smtp_from: 'nobody' }, 7, /^smtp_from must be a mail address/],
    [{ notice_to: 'ops@example.org,two words' }, 7, /^notice_to must be a mail address/],
    [{ notice_to: 'a@b>\r\nBcc: eve@example.org' }, 7, /^notice_to must be a mail address/],
    [{ notice_to: Array(21).fill('ops@example.org').join(',') }, 7, /^notice_to must have at most 20 addresses/],
    [{ raid_read_mode: 'fastest' as 'first' }, 7, /^raid_read_mode must be one of balanced, first, least_loaded/],
    [{ dm_concurrency_level: 0 }, 7, /^dm_concurrency_level must be at least 1/],
    [{ dm_concurrency_level: 17 }, 7, /^dm_concurrency_level must be at most 16/],
    [{ notice_severity: 8, recycle_bin: true }, 7, /^notice_severity must be at most 7/],
  ] as const;
  for (const [change, code, message] of refusals) {
    const refused = await client.refused(settings.update, change);
    assert.equal(refused.code, code, JSON.stringify(change));
    assert.match(refused.message, message);
  }
  assert.deepEqual(await client.call(settings.get, {}), before);
});

test('mirrors are read as the read mode says, after a restart and a failover too', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const disk = await testDisk(t, array, await array.volume(await array.pool()));
  await disk.write(0, Buffer.alloc(16 * 2 ** 20, 7));
  assert.equal((await client.call(controllers.list, {})).vcontrollers[0]?.raid_read_mode, 'balanced');
  await client.call(settings.update, { raid_read_mode: 'first' });
  await array.restart();
  await client.call(controllers.failover, {});
  await disk.login(t);
  await disk.read(0, 16);
  const readBy = async (id: string) => {
    const { usages } = await client.call(drives.performance, { id, interval: 1 });
    return usages.reduce((sum, { rd_bandwidth }) => sum + rd_bandwidth, 0);
  };
  const { disks } = await client.call(drives.list, {});
  const [first, second] = disks.map(({ name }) => name) as [string, string];
  await until(async () => (await readBy(first)) >= 8);
  // The second one is read for its own metadata only.
  assert.ok((await readBy(second)) < 4, `${await readBy(first)} against ${await readBy(second)}`);
  const modes = (await client.call(controllers.list, {})).vcontrollers.map(({ raid_read_mode }) => raid_read_mode);
  assert.deepEqual(modes, ['first', 'first']);
});

test('an array mails what happens to those who asked for it', async (t) => {
  const server = await startMailServer(t);
  const { client } = await testArray(t, { drives: 2 });
  const mail = { smtp_host: '127.0.0.1', smtp_port: server.port, notice_to: 'ops@example.org', notice_severity: 5 };
  await client.call(settings.update, mail);
  await client.call(users.resetAccessKey, { name: 'dana' });
  await until(() => server.mails.length > 0, undefined, 15_000);
  assert.match(server.mails[0]!.text, /The access key of dana was replaced\./);
});
