import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createLog, EventMailer, Vault, type NewEvent } from '@granary/kernel';
import { startMailServer } from '../../kernel/mail/testing/mail-server.ts';
import { until } from '../../testing/waiting.ts';
import { TestPortal } from '../pricing/testing.ts';
import { mailRoutes } from './mail-routes.ts';
import { MailSettingService } from './mail.ts';

const PASSWORD = 'very secret';

async function setUp(t: TestContext) {
  const portal = new TestPortal();
  const { store, events } = portal;
  const admin = await portal.addUser('dana', 'admin');
  const settings = new MailSettingService({ store, events, vault: new Vault(Buffer.alloc(32, 7)) });
  const log = createLog('test', 'silent');
  const parts = { store, events, log, name: () => 'portal', mail: () => settings.mail() };
  const mailer = new EventMailer(parts, { collectMs: 5, retryMs: 5 });
  t.after(async () => {
    await mailer.stop();
    portal[Symbol.dispose]();
  });
  const record = (event: Partial<NewEvent> & { title: string }) =>
    store.write((tx) => events.record(tx, { subject: 'array:1', severity: 'warning', ...event }));
  return { store, admin, settings, mailer, record };
}

test('events at least as severe as asked for are mailed to the recipients, from the moment they are set', async (t) => {
  const server = await startMailServer(t);
  const { admin, settings, mailer, record } = await setUp(t);
  await record({ title: 'Long before.' });
  const set = { host: '127.0.0.1', port: server.port, from: 'portal@example.org', severity: 3 };
  await settings.update({ ...set, recipients: 'ops@example.org, boss@example.org' }, admin);
  await record({ title: 'Array tank is slow.' });
  await record({ title: 'Array tank failed.', severity: 'error' });
  mailer.start();
  await until(() => server.mails.length > 0);
  const [mail] = server.mails;
  assert.deepEqual([mail!.from, mail!.to], ['portal@example.org', ['ops@example.org', 'boss@example.org']]);
  assert.match(mail!.text, /^Subject: \[portal\] error: Array tank failed\.$/m);
  assert.doesNotMatch(mail!.text, /slow|before/);
});

test('the password signs in at the mail server, is kept sealed, and goes with its user', async (t) => {
  const server = await startMailServer(t);
  const { admin, settings, mailer, record, store } = await setUp(t);
  const set = { host: '127.0.0.1', port: server.port, recipients: 'ops@example.org' };
  await settings.update({ ...set, user: 'portal', password: PASSWORD }, admin);
  await record({ title: 'Array tank failed.' });
  mailer.start();
  await until(() => server.mails.length > 0);
  assert.deepEqual(server.signIns, [`portal ${PASSWORD}`]);
  const kept = store.read((db) => JSON.stringify([db.all('SELECT * FROM settings'), db.all('SELECT * FROM events')]));
  assert.ok(!kept.includes(PASSWORD));
  const { user, passwordSealed, host } = await settings.update({ user: '' }, admin);
  assert.deepEqual([user, passwordSealed, host], [null, null, '127.0.0.1']);
});

test('smtp_secure speaks TLS from the first byte, which a server without it does not take', async (t) => {
  const server = await startMailServer(t);
  const { admin, settings, mailer, record, store } = await setUp(t);
  const setMail = async (input: object) => {
    const { settings: handlers } = mailRoutes(settings);
    return handlers?.setMail?.(input, { actor: admin } as never);
  };
  await setMail({ smtp_host: '127.0.0.1', smtp_port: server.port, smtp_secure: true, notice_to: 'ops@example.org' });
  await record({ title: 'Array tank failed.', severity: 'error' });
  mailer.start();
  const failed = () => store.read((db) => db.all("SELECT 1 FROM events WHERE title LIKE 'Mail could not be sent%'"));
  await until(() => failed().length === 1, 'the server refuses TLS');
  assert.equal(server.mails.length, 0);
  await setMail({ smtp_secure: false });
  await until(() => server.mails.length > 0, 'it is sent without');
});

test('settings of mail are checked before any of them is kept', async (t) => {
  const { admin, settings } = await setUp(t);
  const before = settings.current();
  const refused = [
    [{ host: '169.254.169.254' }, /link-local, reserved and metadata addresses are refused/],
    [{ host: 'mail.example.org:25' }, /smtp_host must be the name or address/],
    [{ from: 'nobody' }, /smtp_from must be a mail address/],
    [{ recipients: 'ops@example.org, nobody' }, /notice_to must be a mail address/],
    [{ recipients: Array(21).fill('a@b.c').join(',') }, /notice_to must have at most 20 addresses/],
  ] as const;
  for (const [change, reason] of refused) await assert.rejects(settings.update({ port: 26, ...change }, admin), reason);
  assert.deepEqual(settings.current(), before);
  assert.equal(settings.mail(), undefined);
});
