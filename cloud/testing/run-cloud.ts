import { createLog } from '@granary/kernel';
import { startCloud } from '../start.ts';

/** A cloud in a process of its own, for tests that kill it: `run-cloud.ts <data> <storage array> <object storage>`. */
const [dataDir = '', storageArray = '', objectStorage = ''] = process.argv.slice(2);
const cloud = await startCloud({
  dataDir,
  port: 0,
  adminUser: 'operator',
  programs: { storage_array: storageArray, object_storage: objectStorage },
  log: createLog('test', 'silent'),
});
process.stdout.write(`${JSON.stringify({ url: cloud.url, adminUser: cloud.adminUser, adminKey: cloud.adminKey })}\n`);
