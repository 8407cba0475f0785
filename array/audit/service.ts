import type { Readable } from 'node:stream';
import { badParameter } from '@granary/kernel';
import type { NasService } from '../nas/service.ts';
import type { ArrayTools } from '../tools.ts';
import { findAnyVolume } from '../volumes/repository.ts';
import { archiveOf } from './archive.ts';
import { findLogs, lastTimeOf } from './log-files.ts';

const SECOND_MS = 1_000;

/** Who did what in audited shares. The engine writes the logs and bounds their space; here they are read. */
export class AuditLogService {
  readonly #tools: Pick<ArrayTools, 'store' | 'configuration'>;
  readonly #nas: NasService;

  constructor(tools: Pick<ArrayTools, 'store' | 'configuration'>, nas: NasService) {
    this.#tools = tools;
    this.#nas = nas;
  }

  /** Of the first record and the last one, milliseconds since 1970; undefined while there is none. */
  async timeRange(): Promise<{ firstMs: number; lastMs: number } | undefined> {
    const logs = await findLogs(this.#folder);
    let range: { firstMs: number; lastMs: number } | undefined;
    for (const log of logs) {
      const lastMs = await lastTimeOf(log);
      const firstMs = log.files[0]?.firstMs;
      if (lastMs === undefined || firstMs === undefined) continue;
      range = { firstMs: Math.min(range?.firstMs ?? firstMs, firstMs), lastMs: Math.max(range?.lastMs ?? 0, lastMs) };
    }
    return range;
  }

  /** A zip file of what was logged between two times, both `YYYY-MM-DD HH:MM:SS` and both included. */
  async download(from: string | undefined, to: string | undefined): Promise<Readable> {
    const fromMs = from === undefined ? 0 : momentOf('from', from);
    const beforeMs = to === undefined ? Infinity : momentOf('to', to) + SECOND_MS;
    if (beforeMs <= fromMs) throw badParameter('to', 'must not be before from');
    const logs = await findLogs(this.#folder);
    const users = new Map(this.#nas.numbered('user').map(({ name, number }) => [number, name]));
    const named = logs.map((log) => ({ ...log, filename: this.#filenameOf(log.volume) }));
    return archiveOf(named, { fromMs, beforeMs }, users);
  }

  get #folder(): string {
    return this.#tools.configuration().folder;
  }

  #filenameOf(volume: string): string {
    const displayName = this.#tools.store.read((db) => findAnyVolume(db, volume))?.displayName;
    return displayName === undefined
      ? `${volume}.csv`
      : `${volume} ${displayName.replace(/[^\p{L}\p{N}._-]+/gu, '_')}.csv`;
  }
}

function momentOf(field: string, text: string): number {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  // The 30th of February is taken for the 2nd of March.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, text.length).replace('T', ' ') !== text)
    throw badParameter(field, 'must be a moment as YYYY-MM-DD HH:MM:SS');
  return ms;
}
