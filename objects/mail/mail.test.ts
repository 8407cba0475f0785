import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { EventLog } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { startMailServer } from '../../kernel/mail/testing/mail-server.ts';
import { startPeople } from '../testing/people.ts';
import { EventNotices } from './notices.ts';

const { users, settings, accounts } = objectsApi.groups;
const place = { account: 'webhosting', username: 'ada' };

test('mails go through the server that is set, and are kept until it takes them', async (t) => {
  const server = await startMailServer(t);
  const people = await startPeople(t);
  await people.account('webhosting');
  await people.admin().call(settings.setMailServer, {
    smtp_host: '127.0.0.1',
    smtp_port: server.port,
    smtp_user: 'array',
    smtp_password: 'very secret',
    smtp_from: 'array@example.org',
  });
  server.isRefusing = true;
  await people.anonymous().call(users.resetPassword, place);
  await until(() => people.titles()[0]!.startsWith('Mail could not be sent: '));
  server.isRefusing = false;
  people.clock.advance(60_000);
  await people.restart();
  await until(() => server.mails.length === 1);
  const [mail] = server.mails;
  assert.deepEqual([mail!.from, mail!.to], ['array@example.org', ['ada@example.org']]);
  assert.match(mail!.text, /The code is: /);
  assert.deepEqual([server.signIns.at(-1), people.outbox().length], ['array very secret', 0]);
  assert.ok(!people.titles().join().includes('very secret'));
  await until(() => people.store.read((db) => db.all('SELECT 1 FROM letters')).length === 0);
  await people.admin().call(settings.setMailServer, { smtp_host: '' });
  assert.equal(people.settings.mailServer(), null);
});

test('with smtp_secure a server must speak TLS from the first byte', async (t) => {
  const server = await startMailServer(t);
  const people = await startPeople(t);
  await people.account('webhosting');
  const set = { smtp_host: '127.0.0.1', smtp_port: server.port };
  await people.admin().call(settings.setMailServer, { ...set, smtp_secure: true });
  await people.anonymous().call(users.resetPassword, place);
  await until(() => people.titles()[0]!.startsWith('Mail could not be sent: '));
  assert.ok(server.connections() > 0);
  await people.admin().call(settings.setMailServer, { ...set, smtp_secure: false });
  people.clock.advance(60_000);
  await people.restart();
  await until(() => server.mails.length === 1);
});

test('a mail server that makes no sense is refused by name', async (t) => {
  const people = await startPeople(t);
  for (const [input, word] of [
    [{ smtp_host: 'mail.example.org:25' }, 'smtp_host'],
    [{ smtp_host: '127.0.0.1', smtp_from: 'nobody' }, 'smtp_from'],
    [{ smtp_host: '127.0.0.1', smtp_password: 'x' }, 'smtp_user'],
    [{ smtp_host: '127.0.0.1', smtp_port: 0 }, 'smtp_port'],
  ] as const) {
    const { code, message } = await people.admin().refused(settings.setMailServer, input);
    assert.deepEqual([code, message.split(' ')[0]], [7, word]);
  }
  const refused = await people.admin().refused(settings.setMailServer, { smtp_host: '169.254.169.254' });
  assert.equal(refused.code, 13);
  assert.equal(people.settings.mailServer(), null);
});

test('the outbox is readable by the owner of the process only', async (t) => {
  const people = await startPeople(t);
  await people.account('webhosting');
  await people.anonymous().call(users.resetPassword, place);
  await until(() => people.outbox().length === 1);
  const folder = join(people.configuration.folder, 'outbox');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.match(people.outbox()[0]!, /^From: vsa-00000001@granary\.invalid$/m);
});

test('users who asked for it are mailed what is severe enough and theirs to know', async (t) => {
  const people = await startPeople(t);
  const notify = { notify_on_events: true };
  const system = (await people.admin().call(accounts.list, { filter_value: 'objs_admin' })).accounts[0]!.id;
  const web = await people.account('webhosting');
  const backup = await people.account('backup', 'bob');
  for (const [account_id, username, role] of [
    [system, 'ops', 'objs_admin'],
    [web.id, 'mia', 'member'],
    [backup.id, 'max', 'member'],
  ] as const) {
    const email = `${username}@example.org`;
    await people.admin().call(users.create, { ...notify, account_id, username, email, role });
  }
  const { tools, mailbox } = { tools: people.tools, mailbox: people.people.mailbox };
  const notices = new EventNotices(tools, mailbox, 20);
  notices.start();
  t.after(() => notices.stop());
  await until(
    () => people.store.read((db) => db.get(`SELECT 1 FROM settings WHERE key = 'mailed_event'`)) !== undefined,
  );
  await people.admin().call(accounts.disable, { account_id: web.id });
  await people.admin().call(accounts.enable, { account_id: web.id });
  await people.store.write((tx) => {
    const events = new EventLog(people.clock);
    events.record(tx, { severity: 'error', title: 'Drive 7 failed.', subject: 'drive:7' });
  });
  await until(() => people.outbox().length >= 2 && people.outbox().join().includes('Drive 7'));
  const to = (name: string) =>
    people
      .outbox()
      .filter((mail) => mail.includes(`To: ${name}@example.org`))
      .join();
  assert.match(to('ops'), /Account webhosting was disabled/);
  assert.match(to('ops'), /Drive 7 failed/);
  assert.match(to('mia'), /Account webhosting was disabled/);
  assert.doesNotMatch(to('mia'), /Drive 7|enabled again/);
  assert.equal(to('max'), '');
});
