import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostedConfiguration } from '@granary/kernel';
import { startServer } from '../load.ts';
import { atLeast, atMost, notMeasured, reported, type Ratio } from '../ratio.ts';
import { ObjectsProcess, objectsConfiguration } from './array.ts';
import { BenchConnection } from './connection.ts';
import type { Filling } from './fill.ts';
import { ObjectLoadClient, OPERATIONS, ratesOf, type OperationName } from './load.ts';
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
  const connection = await BenchConnection.connect(address);
  await connection.request(new S3Target('array', address, key).request('PUT', `/${BUCKET}`, '', 0));
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

interface Clients {
  readonly array: ObjectLoadClient;
  readonly bare: ObjectLoadClient;
  /** Writes each body to two files: as many bytes as the array. Asked to put only. */
  readonly bareTwice: ObjectLoadClient;
  readonly swift: ObjectLoadClient | undefined;
}

async function sideBySide({ address, key }: ObjectsProcess, folder: string): Promise<Ratio[]> {
  const bare = await startBare(folder, 1);
  const bareTwice = await startBare(folder, 2);
  const swift = await startSwift(folder, SWIFT_OBJECTS);
  if (typeof swift === 'string') process.stdout.write(`  ${swift}\n`);
  const bareClient = ({ url }: { readonly url: string }) => {
    const { hostname: host, port } = new URL(url);
    return new ObjectLoadClient(new S3Target('bare', { host, port: Number(port) }, key), OBJECTS);
  };
  try {
    const clients: Clients = {
      array: new ObjectLoadClient(new S3Target('array', address, key), OBJECTS),
      bare: bareClient(bare),
      bareTwice: bareClient(bareTwice),
      swift: typeof swift === 'string' ? undefined : new ObjectLoadClient(swift.target, SWIFT_OBJECTS),
    };
    for (const client of [clients.array, clients.bare, clients.swift]) await client?.prepare();
    const ratios: Ratio[] = [];
    for (const name of Object.keys(OPERATIONS) as OperationName[]) ratios.push(...(await compare(name, clients)));
    return ratios;
  } finally {
    bare.stop();
    bareTwice.stop();
    if (typeof swift !== 'string') await swift.stop();
  }
}

function startBare(folder: string, copies: number): ReturnType<typeof startServer> {
  const own = join(folder, `bare-${copies}`);
  mkdirSync(own);
  return startServer('bare-objects.ts', [own, String(copies === 1 ? OBJECTS : 0), String(copies)]);
}

async function compare(name: OperationName, { array, bare, bareTwice, swift }: Clients): Promise<Ratio[]> {
  const asked = { array, bare, ...(name.startsWith('PUT') && { bareTwice }), ...(swift && { swift }) };
  const seen = await ratesOf(name, Object.values(asked));
  const rates = Object.fromEntries(Object.keys(asked).map((who, index) => [who, seen[index] ?? 0]));
  const shown = Object.entries(rates).map(([who, rate]) => `${who} ${Math.round(rate)}`);
  process.stdout.write(`  ${name}, a second: ${shown.join(', ')}\n`);
  const own = rates.array ?? 0;
  const beside = name === 'listing of 1,000 keys' ? ` (of 1,000,000; Swift of ${SWIFT_OBJECTS})` : '';
  return [
    atLeast(`of a bare server, ${name}${beside}`, own / (rates.bare ?? 0), 0.5),
    ...(rates.bareTwice === undefined
      ? []
      : [reported(`the same of one that writes two files, as many bytes as the array`, own / rates.bareTwice)]),
    rates.swift === undefined
      ? notMeasured(`of Swift, ${name}`, 'Swift is not there')
      : atLeast(`of Swift, ${name}${beside}`, own / rates.swift, 2),
  ];
}
