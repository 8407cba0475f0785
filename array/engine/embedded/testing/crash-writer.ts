import { EmbeddedEngine } from '../embedded-engine.ts';
import type { EngineDriveSetup } from '../setup.ts';
import { BLOCK, FAST, MIB } from './rig.ts';

/** Makes, writes, moves and deletes until it is killed, and says before and after each step what it does. */
const [folder = '', drivesText = '[]', firstText = '0'] = process.argv.slice(2);
const drives = JSON.parse(drivesText) as EngineDriveSetup[];
const engine = new EmbeddedEngine({ folder, drives, onEvent: () => undefined });
await engine.open();

async function step(facts: object, work: () => Promise<unknown>): Promise<void> {
  process.stdout.write(`${JSON.stringify({ ...facts, isDone: false })}\n`);
  await work();
  process.stdout.write(`${JSON.stringify({ ...facts, isDone: true })}\n`);
}

async function write(volume: string, letter: string): Promise<void> {
  await step({ type: 'write', volume, letter }, async () => {
    await engine.writeVolume(volume, 0, Buffer.alloc(64 * BLOCK, letter));
    await engine.flushVolume(volume);
  });
}

async function makeAndDelete(number: number): Promise<void> {
  const [group, pool] = [`g${number}`, `r${number}`];
  const members = drives.slice(4, 6).map(({ id }) => id);
  const wanted = {
    id: group,
    protection: 'RAID1',
    drives: members,
    spares: [],
    stripeBytes: 65536,
    speed: FAST,
  } as const;
  await step({ type: 'group', group }, () => engine.createGroup(wanted));
  await step({ type: 'pool', pool }, () => {
    return engine.createPool({ id: pool, mode: 'simple', groups: [group], capacityBytes: 16 * MIB });
  });
  await step({ type: 'no-pool', pool }, () => engine.deletePool(pool));
  await step({ type: 'no-group', group }, () => engine.deleteGroup(group));
}

for (let number = Number(firstText); ; number++) {
  const volume = `v${number}`;
  const [pool, other] = number % 2 === 0 ? ['p', 'q'] : ['q', 'p'];
  const compression = number % 3 === 0;
  await step({ type: 'volume', volume, pool }, () => {
    return engine.createVolume({ id: volume, pool, sizeBytes: MIB, compression, deduplication: false });
  });
  await write(volume, 'a');
  const snapshot = `s${number}`;
  await step({ type: 'snapshot', volume, snapshot }, () => engine.takeSnapshots([{ volume, snapshot }], 1000));
  await write(volume, 'b');
  await step({ type: 'move', volume, pool: other }, () => engine.moveVolume(volume, other, true, {}));
  await write(volume, 'c');
  const old = `v${number - 3}`;
  await step({ type: 'no-volume', volume: old }, () => engine.deleteVolume(old));
  await makeAndDelete(number);
}
