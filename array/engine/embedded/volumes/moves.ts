import { migrateVolume, StorageError } from '@granary/storage';
import type { MoveWork } from '../../engine.ts';
import type { EnginePools } from '../pools.ts';
import type { EngineVolumes } from './volumes.ts';

interface Move {
  paused: PromiseWithResolvers<void> | undefined;
}

/** Volumes on their way to another pool. */
export class VolumeMoves {
  readonly #pools: EnginePools;
  readonly #volumes: EngineVolumes;
  readonly #moves = new Map<string, Move>();

  constructor(pools: EnginePools, volumes: EngineVolumes) {
    this.#pools = pools;
    this.#volumes = volumes;
  }

  async run(id: string, pool: string, withSnapshots: boolean, { signal, onProgress }: MoveWork): Promise<void> {
    const handle = this.#volumes.get(id);
    const target = this.#pools.get(pool);
    if (handle.pool === target) return;
    if (this.#moves.has(id)) throw new StorageError('conflict', `Volume ${id} is being moved already.`);
    const move: Move = { paused: undefined };
    this.#moves.set(id, move);
    const wake = () => move.paused?.resolve();
    signal?.addEventListener('abort', wake);
    try {
      await migrateVolume(handle.pool.open, target.open, id, {
        signal,
        withSnapshots,
        turn: () => (signal?.aborted === true ? undefined : move.paused?.promise),
        onProgress: ({ snapshot, workingSnapshotAt, ...bytes }) =>
          onProgress?.({
            ...bytes,
            snapshot: snapshot ?? null,
            workingSnapshotAt: workingSnapshotAt?.getTime() ?? null,
          }),
        onHandOver: (volume) => handle.moved(volume, target),
      });
    } finally {
      signal?.removeEventListener('abort', wake);
      this.#moves.delete(id);
    }
  }

  pause(id: string): void {
    const move = this.#get(id);
    move.paused ??= Promise.withResolvers();
  }

  resume(id: string): void {
    const move = this.#get(id);
    move.paused?.resolve();
    move.paused = undefined;
  }

  #get(id: string): Move {
    const move = this.#moves.get(id);
    if (move) return move;
    throw new StorageError('conflict', `Volume ${id} is not being moved.`);
  }
}
