import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostedConfiguration } from '@granary/kernel';
import { startServer } from '../load.ts';
import { atLeast, atMost, type Ratio } from '../ratio.ts';
import { ObjectsProcess, objectsConfiguration } from './array.ts';
import { Connection } from './connection.ts';
import type { Filling } from './fill.ts';
import { Client, OPERATIONS, ratesOf, type OperationName } from './load.ts';
import { startSwift } from './swift.ts';
import { BUCKET, S3Target } from './target.ts';

const OBJECTS = 1_000_000;
/** Entered into Swift's own database in reasonable time: it is asked for pages of fewer keys than the array is. */
const SWIFT_OBJECTS = 50_000;
const IDLE_MS = 10_000;
const MEMORY_MB_MAX = 400;

/** An array with 1,000,000 objects beside Swift and beside a bare server: what a request costs, and what it weighs. */
export async function benchObjects(): Promise<Ratio[]> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-bench-'));
  const configuration = objectsConfiguration(folder);
  let array: ObjectsProcess | undefined;
  try {
    await fillArray(configuration);
    array = await ObjectsProcess.start(configuration);
    await sleep(IDLE_MS);
    const idleMb = array.residentMb();
    const ratios = await sideBySide(array, folder);
    await sleep(IDLE_MS);
    return [
      ...ratios,
      atMost('MB an idle array with 1,000,000 objects takes', idleMb, MEMORY_MB_MAX),
      atMost('the same after all of the above', array.residentMb(), MEMORY_MB_MAX),
    ];
  } finally {
    await array?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the bucket over S3, and what is in it while the array is down. */
async function fillArray(configuration: HostedConfiguration): Promise<void> {
  const array = await ObjectsProcess.start(configuration);
  const { address, key, account } = array;
  const connection = await Connection.connect(address);
  await connection.ask(new S3Target('array', address, key).request('PUT', `/${BUCKET}`, '', 0));
  connection.close();
  await array.stop();
  const filling: Filling = {
    indexFile: join(configuration.folder, 'index.db'),
    drives: configuration.drives.map(({ file: folder, ...drive }) => ({ ...drive, folder, capacity: 2 ** 40 })),
    policy: configuration.policies[0]?.name ?? '',
    account,
    count: OBJECTS,
  };
  const startMs = performance.now();
  const child = fork(new URL('./fill.ts', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(filling);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The array could not be filled.');
  const seconds = (performance.now() - startMs) / 1000;
  process.stdout.write(`  ${OBJECTS} objects made, ${Math.round(OBJECTS / seconds)} a second\n`);
}

async function sideBySide({ address, key }: ObjectsProcess, folder: string): Promise<Ratio[]> {
  const bareFolder = join(folder, 'bare');
  mkdirSync(bareFolder);
  const bare = await startServer('bare-objects.ts', [bareFolder, String(OBJECTS)]);
  const swift = await startSwift(folder, SWIFT_OBJECTS);
  if (typeof swift === 'string') process.stdout.write(`  ${swift}\n`);
  try {
    const { hostname: host, port } = new URL(bare.url);
    const targets = [
      { target: new S3Target('array', address, key), listed: OBJECTS },
      { target: new S3Target('bare', { host, port: Number(port) }, key), listed: OBJECTS },
      ...(typeof swift === 'string' ? [] : [{ target: swift.target, listed: SWIFT_OBJECTS }]),
    ];
    const clients = targets.map(({ target, listed }) => new Client(target, listed));
    for (const client of clients) await client.prepare();
    const ratios: Ratio[] = [];
    for (const name of Object.keys(OPERATIONS) as OperationName[]) ratios.push(...(await compare(name, clients)));
    return ratios;
  } finally {
    bare.stop();
    if (typeof swift !== 'string') await swift.stop();
  }
}

async function compare(name: OperationName, clients: readonly Client[]): Promise<Ratio[]> {
  const [own = 0, bare = 0, swift] = await ratesOf(name, clients);
  const rates = [own, bare, swift ?? 0].map((rate) => Math.round(rate));
  process.stdout.write(`  ${name}: ${rates.join(', ')} a second (array, bare, Swift)\n`);
  const beside = name === 'listing of 1,000 keys' ? ` (of 1,000,000; Swift of ${SWIFT_OBJECTS})` : '';
  return [
    atLeast(`of a bare server, ${name}${beside}`, own / bare, 0.5),
    swift === undefined
      ? { what: `of Swift, ${name}`, value: 0, wanted: 'not measured: Swift is not there', met: true }
      : atLeast(`of Swift, ${name}${beside}`, own / swift, 2),
  ];
}
