import assert from 'node:assert/strict';
import { BLOCK, type EngineRig } from './rig.ts';

export const BLOCKS = 512;

interface ModelVolume {
  pool: string;
  blocks: number;
  letters: string[];
  readonly snapshots: Map<string, string[]>;
}

/** What an engine should hold, in letters, and random things done to both. */
export class EngineModel {
  readonly #rig: EngineRig;
  readonly #random: () => number;
  readonly #volumes = new Map<string, ModelVolume>();
  readonly #pools: readonly string[];
  #made = 0;

  constructor(rig: EngineRig, pools: readonly string[], random: () => number) {
    this.#rig = rig;
    this.#pools = pools;
    this.#random = random;
  }

  /** One random step; its name. */
  async step(): Promise<string> {
    const steps = [
      ...Array<() => Promise<string>>(8).fill(() => this.#write()),
      ...Array<() => Promise<string>>(3).fill(() => this.#snapshot()),
      () => this.#create(),
      () => this.#discard(),
      () => this.#deleteSnapshot(),
      () => this.#clone(),
      () => this.#revert(),
      () => this.#move(),
      () => this.#expand(),
      () => this.#delete(),
    ];
    return this.#volumes.size < 2 ? this.#create() : this.#pick(steps)();
  }

  async verify(): Promise<void> {
    const { volumes } = await this.#rig.report();
    assert.deepEqual(volumes.map(({ id }) => id).toSorted(), [...this.#volumes.keys()].toSorted());
    for (const [id, volume] of this.#volumes) {
      const { pool, sizeBytes } = await this.#rig.engine.volume(id);
      assert.deepEqual([pool, sizeBytes], [volume.pool, volume.blocks * BLOCK], id);
      assert.equal(await this.#rig.read(id, 0, volume.blocks), volume.letters.join(''), id);
      for (const [snapshot, letters] of volume.snapshots) {
        assert.equal(await this.#rig.readSnapshot(snapshot, 0, letters.length), letters.join(''), snapshot);
      }
    }
  }

  async #create(): Promise<string> {
    const id = `v${++this.#made}`;
    const pool = this.#pick(this.#pools);
    const reduced = this.#random() < 0.5;
    const options = { compression: reduced, deduplication: reduced && this.#random() < 0.5 };
    await this.#twice(() => this.#rig.engine.createVolume({ id, pool, sizeBytes: BLOCKS * BLOCK, ...options }));
    this.#volumes.set(id, { pool, blocks: BLOCKS, letters: Array<string>(BLOCKS).fill('.'), snapshots: new Map() });
    return `create ${id}`;
  }

  async #write(): Promise<string> {
    const [id, volume] = this.#volume();
    const { from, count } = this.#range(volume);
    const letter = String.fromCharCode(97 + Math.floor(this.#random() * 26));
    await this.#rig.write(id, from * BLOCK, letter, count * BLOCK);
    volume.letters.fill(letter, from, from + count);
    return `write ${letter} to ${id} at ${from}+${count}`;
  }

  async #discard(): Promise<string> {
    const [id, volume] = this.#volume();
    const { from, count } = this.#range(volume);
    await this.#rig.engine.discardVolume(id, from * BLOCK, count * BLOCK);
    volume.letters.fill('.', from, from + count);
    return `discard ${id} at ${from}+${count}`;
  }

  /** Of all volumes, in whichever pool they are. */
  async #snapshot(): Promise<string> {
    const number = ++this.#made;
    const chosen = [...this.#volumes].filter(([, { snapshots }]) => snapshots.size < 4 && this.#random() < 0.5);
    const wanted = chosen.map(([volume]) => ({ volume, snapshot: `s${number}-${volume}` }));
    await this.#twice(() => this.#rig.engine.takeSnapshots(wanted, number));
    for (const [id, { snapshots, letters }] of chosen) snapshots.set(`s${number}-${id}`, [...letters]);
    return `snapshot ${wanted.map(({ snapshot }) => snapshot).join(' ')}`;
  }

  async #deleteSnapshot(): Promise<string> {
    const [, { snapshots }] = this.#volume();
    const [snapshot] = snapshots.keys();
    if (snapshot === undefined) return 'nothing';
    await this.#twice(() => this.#rig.engine.deleteSnapshot(snapshot));
    snapshots.delete(snapshot);
    return `delete ${snapshot}`;
  }

  async #clone(): Promise<string> {
    const [, volume] = this.#volume();
    const [found] = volume.snapshots;
    if (!found || this.#volumes.size > 8) return 'nothing';
    const [snapshot, letters] = found;
    const id = `v${++this.#made}`;
    await this.#twice(() => this.#rig.engine.cloneSnapshot(snapshot, id));
    const { pool } = volume;
    this.#volumes.set(id, { pool, blocks: letters.length, letters: [...letters], snapshots: new Map() });
    return `clone ${snapshot} as ${id}`;
  }

  async #revert(): Promise<string> {
    const [id, volume] = this.#volume();
    const [found] = volume.snapshots;
    if (!found || found[1].length !== volume.blocks) return 'nothing';
    await this.#rig.engine.revertVolume(found[0]);
    volume.letters = [...found[1]];
    return `revert ${id} to ${found[0]}`;
  }

  async #move(): Promise<string> {
    const [id, volume] = this.#volume();
    const pool = this.#pick(this.#pools);
    const withSnapshots = this.#random() < 0.7;
    await this.#rig.engine.moveVolume(id, pool, withSnapshots, {});
    if (pool !== volume.pool && !withSnapshots) volume.snapshots.clear();
    volume.pool = pool;
    return `move ${id} to ${pool} ${withSnapshots ? 'with' : 'without'} snapshots`;
  }

  async #expand(): Promise<string> {
    const [id, volume] = this.#volume();
    volume.blocks += 16;
    volume.letters.push(...Array<string>(16).fill('.'));
    await this.#twice(() => this.#rig.engine.expandVolume(id, volume.blocks * BLOCK));
    return `expand ${id}`;
  }

  async #delete(): Promise<string> {
    const [id] = this.#volume();
    await this.#twice(() => this.#rig.engine.deleteVolume(id));
    this.#volumes.delete(id);
    return `delete ${id}`;
  }

  /** A caller that was cut off repeats the call. */
  async #twice(work: () => Promise<unknown>): Promise<void> {
    await work();
    if (this.#random() < 0.3) await work();
  }

  #volume(): [string, ModelVolume] {
    return this.#pick([...this.#volumes]);
  }

  #range({ blocks }: ModelVolume): { from: number; count: number } {
    const from = Math.floor(this.#random() * blocks);
    return { from, count: Math.max(1, Math.floor(this.#random() * Math.min(96, blocks - from))) };
  }

  #pick<T>(all: readonly T[]): T {
    const one = all[Math.floor(this.#random() * all.length)];
    if (one === undefined) throw new Error('there is nothing to choose from');
    return one;
  }
}
