/**
 * Heartbeats of a controller, in shared memory: its thread counts them there, and the thread that supervises
 * it needs no answer from it.
 */
const VALUES = 4;

export interface Vitals {
  readonly beats: number;
  readonly cpuUserMicroseconds: number;
  readonly cpuSystemMicroseconds: number;
  readonly memoryBytes: number;
}

export const BEAT_MS = 500;

export function createVitals(): SharedArrayBuffer {
  return new SharedArrayBuffer(VALUES * Float64Array.BYTES_PER_ELEMENT);
}

export function readVitals(memory: SharedArrayBuffer): Vitals {
  const [beats = 0, cpuUserMicroseconds = 0, cpuSystemMicroseconds = 0, memoryBytes = 0] = new Float64Array(memory);
  return { beats, cpuUserMicroseconds, cpuSystemMicroseconds, memoryBytes };
}

/** In the controller's own thread. */
export function beat(memory: SharedArrayBuffer): void {
  const values = new Float64Array(memory);
  const { user, system } = process.threadCpuUsage();
  const { heapTotal, external } = process.memoryUsage();
  values.set([(values[0] ?? 0) + 1, user, system, heapTotal + external]);
}
