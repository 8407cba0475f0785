import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { createLog, EventLog, EventMailer, Store, systemClock, Vault, type NewEvent } from '@granary/kernel';
import { awakeMs } from '../../testing/timing.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { migrations } from '../migrations.ts';
import { SettingsService, type SettingsChange } from '../settings/service.ts';
import type { ArrayTools } from '../tools.ts';
import { arrayMailer } from './mailer.ts';
import { startMailServer } from '../../kernel/mail/testing/mail-server.ts';

const QUICK = { collectMs: 20, retryMs: 20 };

async function setUp(t: TestContext, change: SettingsChange) {
  const store = new Store(join(temporaryFolder(t), 'array.db'), migrations);
  t.after(() => store.close());
  const events = new EventLog(systemClock);
  const lines: string[] = [];
  const tools = {
    store,
    events,
    vault: new Vault(Buffer.alloc(32, 7)),
    readings: { onReading: () => undefined },
    log: createLog('test', 'debug', { write: (line: string) => void lines.push(line) }),
    configuration: () => ({ displayName: 'Accounts', internalName: 'vsa-00000001' }),
  } as unknown as ArrayTools;
  const settings = new SettingsService(tools);
  const record = (event: Partial<NewEvent> & { title: string }) =>
    store.write((tx) => events.record(tx, { subject: 'test:1', severity: 'warning', ...event }));
  await record({ title: 'Long before anybody wanted mail.' });
  await settings.update({ smtpHost: '127.0.0.1', noticeTo: 'ops@example.org', ...change }, 'dana');
  const started: EventMailer[] = [];
  const start = (options = QUICK) => {
    const mailer = arrayMailer(tools, new SettingsService(tools), options);
    started.push(mailer);
    mailer.start();
    return mailer;
  };
  t.after(() => Promise.all(started.map((mailer) => mailer.stop())));
  const titles = () => store.read((db) => events.list(db, { start: 0, limit: 0 })).messages.map((one) => one.msg_title);
  return { store, settings, record, start, lines, titles };
}

test('events at least as severe as asked for are mailed, several in one mail, and none twice', async (t) => {
  const server = await startMailServer(t);
  const { record, start } = await setUp(t, {
    smtpPort: server.port,
    smtpFrom: 'array@example.org',
    noticeTo: 'ops@example.org, boss@example.org',
  });
  await record({ title: 'Drive 7 failed.', severity: 'error' });
  await record({ title: 'Somebody signed in.', severity: 'info' });
  await record({ title: 'A server is gone.\r\nBcc: eve@example.org' });
  start();
  await until(() => server.mails.length === 1);
  const [mail] = server.mails;
  assert.deepEqual([mail!.from, mail!.to], ['array@example.org', ['ops@example.org', 'boss@example.org']]);
  assert.match(mail!.text, /^Subject: \[Accounts\] 2 events, 1 of them error$/m);
  assert.match(mail!.text, /error {2}Drive 7 failed\./);
  assert.match(mail!.text, /warning {2}A server is gone\. Bcc: eve@example\.org/);
  assert.doesNotMatch(mail!.text, /signed in|Long before|^Bcc/m);
  await record({ title: 'Drive 8 failed.' });
  await until(() => server.mails.length === 2);
  assert.match(server.mails[1]!.text, /^Subject: \[Accounts\] warning: Drive 8 failed\.$/m);
  await pause(100);
  assert.equal(server.mails.length, 2);
});

test('a mail that is not taken is tried again, also after a restart, and reported once', async (t) => {
  const server = await startMailServer(t);
  const { record, start, titles } = await setUp(t, { smtpPort: server.port });
  server.isRefusing = true;
  await record({ title: 'Drive 7 failed.' });
  const first = start();
  await until(() => server.connections() >= 3);
  await first.stop();
  assert.equal(titles().filter((title) => title.startsWith('Mail could not be sent through 127.0.0.1')).length, 1);
  server.isRefusing = false;
  start();
  await until(() => server.mails.length === 1);
  assert.match(server.mails[0]!.text, /Drive 7 failed\./);
  assert.match(server.mails[0]!.text, /Mail could not be sent/);
});

test('the password goes to the mail server and nowhere else', async (t) => {
  const server = await startMailServer(t);
  const { record, start, lines, titles, settings } = await setUp(t, {
    smtpPort: server.port,
    smtpUser: 'array',
    smtpPassword: 'very secret',
  });
  await record({ title: 'Drive 7 failed.' });
  start();
  await until(() => server.mails.length === 1);
  assert.deepEqual(server.signIns, ['array very secret']);
  const reported = [...lines, ...titles(), JSON.stringify(settings.current())].join('\n');
  assert.ok(!reported.includes('very secret'));
  await settings.update({ smtpUser: '' }, 'dana');
  assert.equal(settings.smtpPassword(), null);
});

test('a flood of events is one mail that says how many more there are', async (t) => {
  const server = await startMailServer(t);
  const { record, start } = await setUp(t, { smtpPort: server.port });
  await Promise.all(Array.from({ length: 120 }, (_, index) => record({ title: `Event ${index}.` })));
  start();
  await until(() => server.mails.length === 1);
  await pause(100);
  assert.equal(server.mails.length, 1);
  assert.match(server.mails[0]!.text, /and 70 more/);
});

test('a server that says nothing does not keep the array from stopping', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const { record, start } = await setUp(t, { smtpPort: (silent.address() as AddressInfo).port });
  await record({ title: 'Drive 7 failed.' });
  const mailer = start();
  await once(silent, 'connection');
  assert.ok((await awakeMs(() => mailer.stop())) < 2000);
});

test('no mail is sent until a server and a recipient are set', async (t) => {
  const server = await startMailServer(t);
  const { record, start, settings } = await setUp(t, { smtpPort: server.port, noticeTo: '' });
  start();
  await record({ title: 'Drive 7 failed.' });
  await pause(100);
  await settings.update({ noticeTo: 'ops@example.org' }, 'dana');
  await record({ title: 'Drive 8 failed.' });
  assert.equal(server.connections(), 0);
});
