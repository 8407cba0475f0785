import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EventLog, Store, systemClock } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { migrations } from '../migrations.ts';
import { UsageAlerts } from './alerts.ts';

test('a controller that uses too much is reported once, and once more when it no longer does', async (t) => {
  const store = new Store(join(temporaryFolder(t), 'array.db'), migrations);
  t.after(() => store.close());
  const events = new EventLog(systemClock);
  const alerts = new UsageAlerts({ store, events });
  const use = (used: number, limit: number) =>
    alerts.evaluate([{ controller: 'vc-0', resource: 'processors', used, limit }]);
  await use(95, 0);
  await use(80, 80);
  await use(95.4, 80);
  await use(99, 80);
  await use(20, 80);
  await use(20, 80);
  await use(90, 80);
  await use(90, 0);
  const { messages } = store.read((db) => events.list(db, { oldestFirst: true, start: 0, limit: 0 }));
  assert.deepEqual(
    messages.map(({ msg_severity, msg_title }) => `${msg_severity} ${msg_title}`),
    [
      '4 Controller vc-0 used 95% of the processors over the last minute: more than the 80% that alerts are set to.',
      '6 Controller vc-0 used 20% of the processors over the last minute: no longer more than 80%.',
      '4 Controller vc-0 used 90% of the processors over the last minute: more than the 80% that alerts are set to.',
      '6 Controller vc-0 used 90% of the processors over the last minute; alerts are off now.',
    ],
  );
});
