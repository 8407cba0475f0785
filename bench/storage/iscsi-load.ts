import { LoadProcess, type LoginOptions, type Workload } from '@granary/protocols/iscsi/testing';

export interface IscsiEndpoint {
  readonly name: string;
  readonly login: LoginOptions;
  readonly lun: number;
}

export interface IscsiBenchOptions {
  /** The first is what the ratio is of: first against second. */
  readonly endpoints: readonly IscsiEndpoint[];
  readonly rounds?: number;
  readonly secondsPerRound?: number;
  /** How much of each unit is used; it is filled before anything is measured, so it should fit the page cache. */
  readonly spanBytes?: number;
  readonly workloads?: readonly IscsiWorkload[];
  readonly onRow?: (row: IscsiRow) => void;
}

export interface IscsiWorkload {
  readonly name: string;
  readonly unit: 'operations/s' | 'MiB/s';
  readonly operation: Workload['operation'];
  readonly pattern: Workload['pattern'];
  readonly transferBytes: number;
  readonly depth: number;
}

export interface IscsiRow {
  readonly workload: string;
  readonly unit: string;
  /** The median of the rounds for each endpoint. */
  readonly results: Readonly<Record<string, number>>;
  /** The first endpoint's median by the second's. */
  readonly ratio: number;
  /** Processor time of the client for each operation, in microseconds: if it is near 1/rate, the client is the limit. */
  readonly clientMicroseconds: Readonly<Record<string, number>>;
}

const MIB = 1024 * 1024;
const small = { unit: 'operations/s', pattern: 'random', transferBytes: 4096 } as const;
const large = { unit: 'MiB/s', pattern: 'sequential', transferBytes: MIB, depth: 4 } as const;

const WORKLOADS: readonly IscsiWorkload[] = [
  { name: '4 KiB random read, depth 1', ...small, operation: 'read', depth: 1 },
  { name: '4 KiB random read, depth 32', ...small, operation: 'read', depth: 32 },
  { name: '4 KiB random write, depth 1', ...small, operation: 'write', depth: 1 },
  { name: '4 KiB random write, depth 32', ...small, operation: 'write', depth: 32 },
  { name: '1 MiB sequential read, depth 4', ...large, operation: 'read' },
  { name: '1 MiB sequential write, depth 4', ...large, operation: 'write' },
];

interface Seen {
  readonly rates: number[];
  readonly client: number[];
}

/**
 * The same client, in a process of its own, against each endpoint in turn, round by round, so that a slow moment of the
 * machine hits all; the median counts.
 */
export async function benchIscsi(options: IscsiBenchOptions): Promise<IscsiRow[]> {
  const { endpoints, spanBytes = 256 * MIB, workloads = WORKLOADS } = options;
  const client = new LoadProcess();
  try {
    for (const { login, lun } of endpoints) await client.request({ login, lun, fillBytes: spanBytes });
    const rows: IscsiRow[] = [];
    for (const workload of workloads) {
      const row = await measure(client, workload, spanBytes, options);
      options.onRow?.(row);
      rows.push(row);
    }
    return rows;
  } finally {
    client.stop();
  }
}

async function measure(
  client: LoadProcess,
  workload: IscsiWorkload,
  spanBytes: number,
  { endpoints, rounds = 5, secondsPerRound = 2 }: IscsiBenchOptions,
): Promise<IscsiRow> {
  const seen = new Map<string, Seen>(endpoints.map(({ name }) => [name, { rates: [], client: [] }]));
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const seconds = round === 0 ? Math.min(secondsPerRound, 0.5) : secondsPerRound;
    for (const { name, login, lun } of inTurn(endpoints, round)) {
      const result = await client.request({
        login,
        lun,
        workload: { ...workload, seconds, spanBytes, seed: round + 1 },
      });
      if (round === 0) continue;
      const perSecond = result.operations / result.seconds;
      seen.get(name)?.rates.push(workload.unit === 'MiB/s' ? (perSecond * workload.transferBytes) / MIB : perSecond);
      seen.get(name)?.client.push(result.clientMicroseconds);
    }
  }
  const medians = (pick: keyof Seen) => Object.fromEntries([...seen].map(([name, all]) => [name, median(all[pick])]));
  const results = medians('rates');
  const [first, second] = Object.values(results);
  const ratio = (first ?? 0) / (second ?? first ?? 1);
  return { workload: workload.name, unit: workload.unit, results, ratio, clientMicroseconds: medians('client') };
}

/** Who went first goes last in the next round. */
function inTurn<Item>(items: readonly Item[], round: number): readonly Item[] {
  return round % 2 === 0 ? items : items.toReversed();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
