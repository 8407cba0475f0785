import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineProcess } from '../../../../testing/line-process.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { until } from '../../../../testing/waiting.ts';
import { checkEngine } from '../check-engine.ts';
import { FileWorker } from './testing/file-worker.ts';
import { servedShare, shareRig } from './testing/share-rig.ts';

const KILLS = process.env['GRANARY_TORTURE'] === '1' ? 200 : 3;
const WORKERS = 4;

/**
 * Several clients change files while the process that serves them is killed, again and again: what was answered is there,
 * what was not is done or not done, and the filesystem is whole.
 */
test('whatever clients of a share were answered survives kill -9', async (t) => {
  const random = seededRandom(t);
  const rig = await shareRig(t, { count: 2, driveMb: 128 });
  await rig.share('files', {}, 64 * 1024 * 1024);
  await rig.engine.close();
  const { folder, drives } = rig.rig;
  const server = new URL('./testing/share-server.ts', import.meta.url);
  const workers = Array.from({ length: WORKERS }, (_, index) => new FileWorker(`w${index}`, random));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = new LineProcess(server, folder, JSON.stringify(drives), 'files', rig.host);
    await until(() => child.lines.includes('serving'));
    const clients = await Promise.all(workers.map(() => rig.client3('files')));
    await Promise.all(workers.map((worker, index) => worker.verify(clients[index]!)));
    const enough = workers.reduce((sum, { steps }) => sum + steps, 0) + 20 + random() * 200;
    const running = Promise.all(workers.map((worker, index) => worker.run(clients[index]!)));
    await Promise.race([running, until(() => workers.reduce((sum, { steps }) => sum + steps, 0) >= enough)]);
    await child.kill();
    await running;
    const { findings } = await checkEngine(folder, drives, () => true);
    assert.deepEqual(
      findings.filter((finding) => !finding.includes('is recovering')),
      [],
      `after kill ${kill}`,
    );
  }
  await rig.reopen();
  await rig.shares.putShare(servedShare('files'));
  for (const worker of workers) await worker.verify(await rig.client3('files'));
});
