import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { Work } from '../../work.ts';
import { EngineError } from '../../errors.ts';
import type { Report } from '../../report.ts';
import type { EngineMethods, OpenEngine } from '../protocol.ts';
import { breakAtWill } from './break-at-will.ts';

/** A file of this name in the array's folder keeps every controller from opening. */
export const REFUSAL = 'refuse';

const wasm = new Uint8Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);

const bytes: Readonly<Record<string, () => Uint8Array>> = {
  whole: () => new Uint8Array(1024 * 1024).fill(1),
  part: () => new Uint8Array(1024).subarray(100, 612).fill(2),
  wasm: () => wasm.fill(3),
  /** What the heap of the controller's thread may grow to. */
  heap: () => Buffer.from(String(getHeapStatistics().heap_size_limit)),
};

/** Does nothing, and can be watched while it does. */
class FakeThreadEngine implements Pick<
  EngineMethods,
  'volume' | 'readSnapshot' | 'scrubGroup' | 'report' | 'setResyncSpeed'
> {
  readonly #controller: string;
  #version = 0;

  constructor(controller: string) {
    this.#controller = controller;
  }

  volume(id: string): Promise<never> {
    if (id === 'missing') throw new EngineError('not-found', 'There is no volume missing.');
    throw new TypeError('a fault of ours');
  }

  readSnapshot(id: string): Promise<Uint8Array> {
    return Promise.resolve(bytes[id]?.() ?? new Uint8Array());
  }

  async setResyncSpeed(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  async scrubGroup(_group: string, from: number, work: Work): Promise<never> {
    for (let done = from; ; done += 0.001) {
      if (work.signal?.aborted === true) throw new EngineError('cancelled', 'It was cancelled.');
      work.onProgress?.(done);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  report(since: number): Promise<Report> {
    const drive = { id: `${this.#controller} ${since}`, state: 'online', io: {} } as Report['drives'][number];
    this.#version += 1;
    const nothing = { groups: [], pools: [], volumes: [], sessions: [], servers: [], controllers: [] };
    return Promise.resolve({ version: this.#version, drives: [drive], ...nothing });
  }
}

export const openEngine: OpenEngine = ({ folder }, { controller }) => {
  if (existsSync(join(folder, REFUSAL))) throw new EngineError('failed', 'The drives cannot be read.');
  const done = () => Promise.resolve();
  const engine = breakAtWill(new FakeThreadEngine(controller) as unknown as EngineMethods);
  return Promise.resolve({ engine, serve: done, follow: done, close: done });
};
