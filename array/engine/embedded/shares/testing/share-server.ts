import { EmbeddedEngine } from '../../embedded-engine.ts';
import type { EngineDriveSetup } from '../../setup.ts';
import { EngineShares } from '../shares.ts';
import { FILE_PORT, servedShare } from './share-rig.ts';

/** Serves one share until it is killed, and says when it does. */
const [folder = '', drivesText = '[]', volume = '', host = ''] = process.argv.slice(2);
const drives = JSON.parse(drivesText) as EngineDriveSetup[];
const serving: { shares?: EngineShares } = {};
const engine = new EmbeddedEngine({
  folder,
  drives,
  onEvent: () => undefined,
  shares: (source) => {
    const onProblem = (problem: string, error: unknown) => process.stderr.write(`${problem}: ${String(error)}\n`);
    const names = { serverName: 'test', controller: 'vc-0' };
    serving.shares = new EngineShares({ source, folder, onEvent: () => undefined, onProblem, ...names });
    return serving.shares;
  },
});
await engine.open();
await serving.shares?.putShare(servedShare(volume));
await serving.shares?.serve([{ host, port: FILE_PORT }]);
process.stdout.write('serving\n');
