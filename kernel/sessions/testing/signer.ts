import { writeSync } from 'node:fs';
import { Vault } from '../../auth/vault.ts';
import { systemClock } from '../../clock.ts';
import { EventLog } from '../../events/events.ts';
import { createLog } from '../../log.ts';
import { Store } from '../../store/index.ts';
import { Sessions } from '../index.ts';

/** Signs in and out until it is killed, and prints what was acknowledged: `in <value>`, or `out <value>`. */
const [file = ''] = process.argv.slice(2);
const store = new Store(file, { component: 'test', steps: [] });
const parts = { store, clock: systemClock, events: new EventLog(systemClock), log: createLog('test', 'silent') };
const sessions = new Sessions({ ...parts, vault: new Vault(Buffer.alloc(32, 7)) }, () => 'test');

for (let n = 0; ; n++) {
  const who = { user: `user:${n}`, ip: '192.0.2.1', userAgent: undefined };
  const stays = await sessions.begin(who, () => undefined);
  writeSync(1, `in ${stays.value}\n`);
  const leaves = await sessions.begin(who, () => undefined);
  await sessions.end(leaves.session, () => undefined);
  writeSync(1, `out ${leaves.value}\n`);
}
