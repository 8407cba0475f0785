import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { portalClient } from '@granary/client';
import { createLog } from '@granary/kernel';
import { startPortal } from '@granary/portal';
import { startFakeCloud } from '../../portal/testing/fake-cloud.ts';
import { fillPortal } from './records.ts';

/** The portal itself with so many arrays on record; tells its parent where it is and how to sign in. */
const count = Number(process.argv[2]);
const dataDir = mkdtempSync(join(tmpdir(), 'granary-bench-'));
const cloud = await startFakeCloud();
const options = {
  dataDir,
  host: '127.0.0.1',
  port: 0,
  version: '0.0.0',
  log: createLog('bench'),
  adminPassword: 'benchmark',
  localCloud: cloud,
};
const first = await startPortal(options);
await first.stop();
await fillPortal(dataDir, count);
const portal = await startPortal(options);
const { data } = await portalClient({ url: portal.url }).tokens.get({ username: 'admin', password: 'benchmark' });
process.send?.({ url: portal.url, token: data.token });
process.on('disconnect', () => {
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
});
