import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const REST_MS_MAX = 60_000;
const POLL_MS = 100;
/** Tables that record requests without being changed by them, and continuous measurements. */
const NOT_STATE = new Set(['events', 'idempotency_keys', 'performance', 'pool_samples', 'capacity_points']);
/** Columns of the same kind: observations of other systems, or derived from measurements. */
const NOT_STATE_COLUMNS = new Set(['is_connected', 'last_check_at', 'state_changed_at', 'capacity_mode', 'seen_at']);
/** Settings of that kind: the last event that was mailed. */
const NOT_STATE_KEYS = new Set<unknown>(['mailed_event']);

/** The state of a process that owns its database: read from a copy of the file and its log. */
export class ServiceState {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Changes with anything that is written. */
  mark(): string {
    return ['', '-wal']
      .map((suffix) => statSync(`${this.#file}${suffix}`, { bigint: true, throwIfNoEntry: false }))
      .map((found) => `${found?.size} ${found?.mtimeNs}`)
      .join();
  }

  /** Once no work is in progress that would write by itself. */
  async atRest(): Promise<Record<string, unknown[]>> {
    const end = Date.now() + REST_MS_MAX;
    let dump = this.dump();
    while (isBusy(dump)) {
      assert.ok(Date.now() < end, `work does not end: ${JSON.stringify(dump['jobs'])}`);
      await sleep(POLL_MS);
      dump = this.dump();
    }
    return dump;
  }

  /** Every row of every table that is part of the state. */
  dump(): Record<string, unknown[]> {
    const folder = mkdtempSync(join(tmpdir(), 'granary-dump-'));
    const copy = join(folder, 'copy.db');
    for (const suffix of ['', '-wal'])
      if (existsSync(`${this.#file}${suffix}`)) copyFileSync(`${this.#file}${suffix}`, `${copy}${suffix}`);
    const database = new DatabaseSync(copy);
    try {
      const tables = database
        .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
        .all() as { name: string }[];
      const kept = tables.filter(({ name }) => !NOT_STATE.has(name));
      assert.ok(kept.some(({ name }) => name === 'users'));
      return Object.fromEntries(kept.map(({ name }) => [name, rowsOf(database, name)]));
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  }
}

/** Unsent mails count as well. */
function isBusy({ jobs = [], letters = [] }: Record<string, unknown[]>): boolean {
  const isRunning = ({ state }: { state: string }) => state === 'queued' || state === 'running';
  return letters.length > 0 || (jobs as { state: string }[]).some(isRunning);
}

function rowsOf(database: DatabaseSync, table: string): unknown[] {
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[];
  const kept = columns.map(({ name }) => name).filter((name) => !NOT_STATE_COLUMNS.has(name));
  const rows = database.prepare(`SELECT ${kept.join(', ')} FROM ${table}`).all();
  return rows.filter(({ key }) => !NOT_STATE_KEYS.has(key));
}
