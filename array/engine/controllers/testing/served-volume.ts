import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLog } from '@granary/kernel';
import { Initiator, type LoginOptions, type Lun, type InitiatorSession } from '@granary/protocols/iscsi/testing';
import { testConfiguration } from '../../../../kernel/process/testing/configuration.ts';
import { placeDrives } from '../../../testing/drives.ts';
import type { Engine, ExportedServer } from '../../engine.ts';
import type { EngineEvent } from '../../events.ts';
import { startEmbeddedEngine } from '../../embedded/start.ts';
import { partOf } from '../../parts.ts';
import type { RunningEngine } from '../../running-engine.ts';
import { targetOf } from '../target.ts';

export const ALICE = 'iqn.2026-01.org.example:alice';
export const BOB = 'iqn.2026-01.org.example:bob';
export const POOL = 'pool-00000001';
export const VOLUME = 'volume-00000001';
export const VOLUME_BYTES = 64 * 2 ** 20;

/** An engine with a mirror, a pool and a volume that is not exported yet. */
export interface ServedVolume {
  readonly running: RunningEngine;
  readonly engine: Engine;
  readonly events: EngineEvent[];
  readonly host: string;
  readonly login: (options?: Partial<LoginOptions>) => Promise<InitiatorSession>;
  /** The unit under a number, ready for use. */
  readonly open: (lun?: number, options?: Partial<LoginOptions>) => Promise<Lun>;
  /** Restarts it; it has no servers then. */
  readonly restart: () => Promise<ServedVolume>;
}

export async function servedVolume(t: TestContext, engineModule = './fragile-engine.ts'): Promise<ServedVolume> {
  const root = mkdtempSync(join(tmpdir(), 'granary-engine-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'array');
  mkdirSync(folder);
  const drives = placeDrives(join(root, 'drives'), [1, 2], 1);
  const configuration = testConfiguration(folder, { drives });
  const served = await start(t, configuration, new URL(engineModule, import.meta.url).href);
  const { engine } = served;
  const speed = { minimum: 2 ** 20, maximum: 2 ** 30 };
  const members = drives.map(({ uuid }) => uuid);
  await partOf(engine, 'hardware').createGroup({
    id: 'RaidGroup-1',
    protection: 'RAID1',
    drives: members,
    spares: [],
    stripeBytes: 65_536,
    speed,
  });
  await engine.createPool({ id: POOL, mode: 'simple', groups: ['RaidGroup-1'], capacityBytes: 2 ** 29 });
  await createVolume(engine, VOLUME);
  return served;
}

export async function createVolume(engine: Engine, id: string, key?: Uint8Array): Promise<void> {
  await engine.createVolume({ id, pool: POOL, sizeBytes: VOLUME_BYTES, compression: false, deduplication: false, key });
}

async function start(
  t: TestContext,
  configuration: ReturnType<typeof testConfiguration>,
  engineModule: string,
): Promise<ServedVolume> {
  const events: EngineEvent[] = [];
  const running = await startEmbeddedEngine(
    { configuration, log: createLog('array', 'silent'), onEvent: (event) => events.push(event) },
    { engineModule },
  );
  let isRunning = true;
  const stop = async () => {
    if (isRunning) await running.stop();
    isRunning = false;
  };
  t.after(stop);
  await running.serve();
  const { host } = configuration.management;
  const port = configuration.dataPort;
  const targetName = targetOf(configuration.internalName);
  const login = async (options: Partial<LoginOptions> = {}) => {
    const session = await Initiator.login({ host, port, targetName, initiatorName: ALICE, ...options });
    t.after(() => session.destroy());
    return session;
  };
  return {
    running,
    engine: running.engine,
    events,
    host,
    login,
    open: async (lun = 0, options = {}) => {
      const unit = (await login(options)).lun(lun);
      await unit.clearUnitAttentions();
      return unit;
    },
    restart: async () => {
      await stop();
      return start(t, configuration, engineModule);
    },
  };
}

/** A server that reaches the volume as LUN 0 by default. */
export function server(changes: Partial<ExportedServer> = {}): ExportedServer {
  return {
    id: 'srv-00000001',
    initiator: ALICE,
    address: null,
    chap: null,
    mutualChap: null,
    isChapRequired: false,
    units: [unit(0, VOLUME)],
    ...changes,
  };
}

export function unit(lun: number, volume: string, readOnly = false): ExportedServer['units'][number] {
  return { lun, volume, readOnly, wwid: `6${volume.slice(-8).padStart(31, '0')}` };
}

/** Tries again until it goes well. */
export async function insist<T>(attempt: () => Promise<T>, msMax: number): Promise<T> {
  const until = performance.now() + msMax;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
