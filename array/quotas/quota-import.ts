import { GranaryError, type JobOutcome, type RunningJob } from '@granary/kernel';
import type { QuotaScope } from '../engine/shares.ts';
import { EngineError } from '../engine/errors.ts';
import type { ArrayTools } from '../tools.ts';
import type { Volume } from '../volumes/volume.ts';
import type { NameReader } from './names.ts';
import { readQuotaFile, type QuotaFileFormat } from './quota-file.ts';

interface QuotaFile {
  readonly scope: QuotaScope;
  readonly format: QuotaFileFormat;
  readonly bytes: Uint8Array;
}

interface ImportWork {
  readonly volume: string;
  readonly scope: QuotaScope;
  /** Number and limit in bytes of each; null is none. */
  readonly limits: readonly (readonly [number, number | null])[];
}

const KIND = 'import-quotas';

/** Sets the quotas of a file. They are on record before the first is set: cut off, the rest are set at the next start. */
export class QuotaImport {
  readonly #tools: ArrayTools;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
    tools.jobs.register<ImportWork>(KIND, (job) => this.#run(job));
  }

  /** How many were set. */
  async run({ name: volume }: Volume, names: NameReader, { scope, format, bytes }: QuotaFile): Promise<number> {
    const { store, jobs } = this.#tools;
    const limits = readQuotaFile(bytes, format, names).map(({ id, limitBytes }) => [id, limitBytes ?? null] as const);
    const args: ImportWork = { volume, scope, limits };
    const id = await store.write((tx) => jobs.enqueue(tx, KIND, `quotas:${volume}`, args));
    const job = await jobs.wait(id, -1);
    if (job?.state === 'failed') throw new GranaryError('state_conflict', job.error ?? 'The quotas could not be set.');
    return limits.length;
  }

  async #run({ arguments: { volume, scope, limits } }: RunningJob<ImportWork>): Promise<JobOutcome> {
    try {
      await this.#tools.engine.setQuotas(
        volume,
        limits.map(([id, bytes]) => ({ scope, id, limitBytes: bytes ?? undefined })),
      );
      return { outcome: 'done' };
    } catch (error) {
      if (error instanceof EngineError) return { outcome: 'failed', reason: error.message };
      throw error;
    }
  }
}
