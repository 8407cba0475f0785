import { fillDisk } from '../../../../testing/folders.ts';
import { EmbeddedEngine } from '../embedded-engine.ts';
import type { EngineDriveSetup } from '../setup.ts';
import { MIB } from './rig.ts';

/** Fills the disk with writes that it does not flush, and deletes volumes there until it is killed. */
const [folder = '', drivesText = '[]', filler = '', ...doomed] = process.argv.slice(2);
const drives = JSON.parse(drivesText) as EngineDriveSetup[];
const engine = new EmbeddedEngine({ folder, drives, onEvent: () => undefined });
await engine.open();

for (const volume of doomed) {
  let isFull = false;
  for (let at = 0; at < 128 && !isFull; at += 1) {
    isFull = await engine.writeVolume('big', at * MIB, Buffer.alloc(MIB, 'b')).then(
      () => false,
      () => true,
    );
  }
  fillDisk(filler);
  process.stdout.write(`deleting ${volume}\n`);
  await engine.deleteVolume(volume);
  process.stdout.write(`deleted ${volume}\n`);
}
process.stdout.write('end\n');
await new Promise((resolve) => setTimeout(resolve, 60_000));
