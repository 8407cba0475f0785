import type { ListedFile } from '../engine/shares.ts';
import type { RunFigures } from './policies/policy.ts';

export type FileOutcome =
  | { readonly outcome: 'handled' }
  /** It was changed meanwhile. */
  | { readonly outcome: 'changed' }
  | { readonly outcome: 'failed'; readonly reason: string };

const SAMPLE_MAX = 100;
const SHOWN_LENGTH_MAX = 1_024;

/** What a run of a policy on a share came to, so far. */
export class ScanFigures {
  #matchedFiles = 0;
  #matchedBytes = 0;
  #handledFiles = 0;
  #handledBytes = 0;
  #changedFiles = 0;
  #failedFiles = 0;
  #problem: string | null = null;
  readonly #sample: string[] = [];
  #failuresInARow = 0;

  /** As it is on record, when a scan goes on. */
  static of(saved: RunFigures): ScanFigures {
    const figures = new ScanFigures();
    figures.#matchedFiles = saved.matchedFiles;
    figures.#matchedBytes = saved.matchedBytes;
    figures.#handledFiles = saved.handledFiles;
    figures.#handledBytes = saved.handledBytes;
    figures.#changedFiles = saved.changedFiles;
    figures.#failedFiles = saved.failedFiles;
    figures.#problem = saved.problem;
    figures.#sample.push(...saved.sample);
    return figures;
  }

  get failuresInARow(): number {
    return this.#failuresInARow;
  }

  /** One that matched; without an outcome it was left as it is, in a dry run. */
  count({ path, sizeBytes }: Pick<ListedFile, 'path' | 'sizeBytes'>, outcome?: FileOutcome): void {
    this.#matchedFiles += 1;
    this.#matchedBytes += sizeBytes;
    if (this.#sample.length < SAMPLE_MAX) this.#sample.push(path.slice(0, SHOWN_LENGTH_MAX));
    if (!outcome) return;
    this.#failuresInARow = outcome.outcome === 'failed' ? this.#failuresInARow + 1 : 0;
    if (outcome.outcome === 'changed') this.#changedFiles += 1;
    else if (outcome.outcome === 'failed') {
      this.#failedFiles += 1;
      this.#problem ??= outcome.reason;
    } else {
      this.#handledFiles += 1;
      this.#handledBytes += sizeBytes;
    }
  }

  /** Why it does not run. */
  refuse(problem: string): void {
    this.#problem ??= problem;
  }

  totals(): RunFigures {
    return {
      matchedFiles: this.#matchedFiles,
      matchedBytes: this.#matchedBytes,
      handledFiles: this.#handledFiles,
      handledBytes: this.#handledBytes,
      changedFiles: this.#changedFiles,
      failedFiles: this.#failedFiles,
      problem: this.#problem,
      sample: this.#sample,
    };
  }
}
