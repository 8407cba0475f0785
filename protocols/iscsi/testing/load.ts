import { Random } from '../../../testing/random.ts';
import type { Lun } from './lun.ts';
import type { InitiatorSession } from './session.ts';

export interface Workload {
  readonly operation: 'read' | 'write';
  readonly pattern: 'random' | 'sequential';
  readonly transferBytes: number;
  readonly depth: number;
  readonly seconds: number;
  /** How much of the unit to use, from its start. */
  readonly spanBytes: number;
  readonly seed: number;
}

export interface LoadResult {
  readonly operations: number;
  readonly seconds: number;
  /** What the client itself used, in microseconds for each operation. */
  readonly clientMicroseconds: number;
}

/** Keeps `depth` transfers under way for so many seconds. */
export async function runLoad(lun: Lun, workload: Workload): Promise<LoadResult> {
  const { operation, transferBytes, depth, seconds } = workload;
  const blocks = transferBytes / lun.blockBytes;
  const next = placesOf(workload, blocks, lun.blockBytes);
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  let operations = 0;
  const worker = async () => {
    const buffer = Buffer.allocUnsafeSlow(transferBytes).fill(operations + 1);
    while (performance.now() < endMs) {
      if (operation === 'read') await lun.read(next(), blocks, buffer);
      else await lun.write(next(), buffer);
      operations += 1;
    }
  };
  await Promise.all(Array.from({ length: depth }, worker));
  const { user, system } = process.cpuUsage(cpu);
  const taken = (performance.now() - startMs) / 1000;
  return { operations, seconds: taken, clientMicroseconds: (user + system) / Math.max(operations, 1) };
}

/** Where the next transfer goes. */
function placesOf({ pattern, spanBytes, transferBytes, seed }: Workload, blocks: number, blockBytes: number) {
  const places = Math.floor(spanBytes / transferBytes);
  const random = new Random(seed);
  let at = -1;
  if (blocks * blockBytes !== transferBytes || places < 1) {
    throw new Error(`Transfers of ${transferBytes} bytes do not fit ${spanBytes} bytes in blocks of ${blockBytes}`);
  }
  return () => {
    at = pattern === 'random' ? random.below(places) : (at + 1) % places;
    return at * blocks;
  };
}

/** Writes data all over the span, so that reads have something to read. */
export async function fillUnit(session: InitiatorSession, lunNumber: number, spanBytes: number): Promise<void> {
  const lun = session.lun(lunNumber);
  await lun.clearUnitAttentions();
  const { blockBytes } = await lun.readCapacity();
  const random = new Random(spanBytes);
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
  for (let at = 0; at < buffer.length; at += 4) buffer.writeUInt32LE(random.below(2 ** 32), at);
  for (let at = 0; at < spanBytes; at += buffer.length) {
    await lun.write(at / blockBytes, buffer.subarray(0, Math.min(buffer.length, spanBytes - at)));
  }
  await lun.synchronizeCache();
}
