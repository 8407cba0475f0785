import { bytes } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { isEngineError } from '../engine/errors.ts';
import { moveSequence } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { undoCreation } from './creation.ts';
import type { VolumeDeletion } from './deletion.ts';
import type { VolumeDependents } from './dependents.ts';
import {
  listCapped,
  listCounted,
  listCreating,
  listGoing,
  listReductionPending,
  listVolumeNames,
  updateVolume,
} from './repository.ts';
import type { Volume } from './volume.ts';
import { capsOf, engineReduction, titleOf } from './rules.ts';

const NAME = /^volume-([0-9a-f]{8})$/;

/**
 * Before requests are served: records and engine are reconciled after a crash, and the engine gets the state it does not
 * keep. How shares are served comes later, when their snapshots are reconciled, too.
 */
export async function reconcileVolumes(
  tools: ArrayTools,
  deletion: VolumeDeletion,
  dependents: VolumeDependents,
): Promise<void> {
  for (const { name } of tools.store.read(listCreating))
    await attempt(tools, name, () => undoCreation(tools, dependents, name));
  await removeUnknown(tools);
  await adoptSizes(tools);
  await adoptPools(tools);
  await applyReductions(tools);
  await applyCaps(tools);
  const { store } = tools;
  if (store.read(listGoing).length === 0) return;
  await store.write((tx) => {
    for (const volume of listGoing(tx)) deletion.resume(tx, volume);
  });
}

/** One volume that cannot be reconciled, perhaps because its pool is damaged, is no reason for the others to be down. */
async function attempt({ log }: ArrayTools, volume: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error({ error, volume }, 'a volume could not be reconciled');
  }
}

async function applyCaps(tools: ArrayTools): Promise<void> {
  const { store, engine } = tools;
  const isReady = ({ state }: Volume) => state === 'ready';
  for (const volume of store.read(listCapped).filter(isReady))
    await attempt(tools, volume.name, () => engine.setCaps(volume.name, capsOf(volume)));
  for (const { name } of store.read(listCounted).filter(isReady))
    await attempt(tools, name, () => engine.countSizes(name, true));
}

/** A volume that a crash left in the engine without a record is empty. One with data is kept. */
async function removeUnknown(tools: ArrayTools): Promise<void> {
  const { store, engine, readings } = tools;
  const known = new Set<string>(store.read(listVolumeNames).map(({ name }) => name));
  const unknown = [...readings.volumes].filter(({ id }) => !known.has(id));
  if (unknown.length === 0) return;
  // Their names are used, if these records are older than the engine's.
  const last = Math.max(...unknown.map(({ id }) => Number.parseInt(NAME.exec(id)?.[1] ?? '0', 16)));
  await store.write((tx) => moveSequence(tx, 'volume', last));
  for (const { id, pool } of unknown) {
    if (!(await isEmpty(tools, id))) {
      await reportUnknown(tools, id, pool);
      continue;
    }
    await attempt(tools, id, () => engine.deleteVolume(id));
    readings.removeVolume(id);
  }
}

/**
 * Asked of the engine, not of the figures: what a volume shares with its clones is counted with neither, and a volume
 * that shows data must not pass for one without. In doubt it is not empty.
 */
async function isEmpty({ engine, readings, clock, log }: ArrayTools, id: string): Promise<boolean> {
  const { ownBytes = 0, snapshotBytes = 0, sharedBytes = 0 } = readings.volume(id) ?? {};
  if (ownBytes + snapshotBytes + sharedBytes > 0) return false;
  const probe = `probe-of-${id}`;
  try {
    await engine.takeSnapshots([{ volume: id, snapshot: probe }], clock.now());
    const held = await engine.changes(undefined, probe, 0, 1);
    await engine.deleteSnapshot(probe);
    return held.length === 0;
  } catch (error) {
    log.warn({ error, volume: id }, 'a volume that is not on record could not be looked into');
    return false;
  }
}

async function reportUnknown({ store, events }: ArrayTools, id: string, pool: string): Promise<void> {
  const title = `Pool ${pool} holds ${id}, which has data and is not on record; it is kept.`;
  await store.write((tx) => events.record(tx, { severity: 'error', title, subject: `volume:${id}` }));
}

/** An expansion may have been cut off before it was on record. */
async function adoptSizes({ store, readings, clock }: ArrayTools): Promise<void> {
  const grown = store.read(listVolumeNames).flatMap(({ name, sizeBytes }) => {
    const present = bytes(readings.volume(name)?.sizeBytes ?? 0);
    return present > sizeBytes ? [{ name, sizeBytes: present }] : [];
  });
  if (grown.length === 0) return;
  await store.write((tx) => {
    for (const { name, sizeBytes } of grown) updateVolume(tx, name, { sizeBytes, modifiedAt: clock.now() });
  });
}

/** The engine decides in which pool a volume is: a move that ended while it was being aborted is recorded here. */
async function adoptPools({ store, readings, clock, events }: ArrayTools): Promise<void> {
  const moved = store.read(listVolumeNames).flatMap(({ name, pool, migration }) => {
    const place = readings.volume(name)?.pool ?? pool;
    return place === pool || migration !== null ? [] : [{ name, pool: place }];
  });
  if (moved.length === 0) return;
  await store.write((tx) => {
    for (const { name, pool } of moved) {
      updateVolume(tx, name, { pool, modifiedAt: clock.now() });
      const title = `Volume ${name} was found in pool ${pool}; its record says so now.`;
      events.record(tx, { severity: 'warning', title, subject: `volume:${name}` });
    }
  });
}

async function applyReductions({ store, engine, log }: ArrayTools): Promise<void> {
  for (const volume of store.read(listReductionPending)) {
    const { name } = volume;
    try {
      if (volume.state === 'ready') await partOf(engine, 'reduction').setReduction(name, engineReduction(volume));
      await store.write((tx) => updateVolume(tx, name, { isReductionPending: false }));
    } catch (error) {
      if (!isEngineError(error, 'conflict')) {
        log.warn({ error }, `${titleOf(volume)} could not get its data reduction`);
        continue;
      }
      // It was made without, and a crash came before the refusal was on record.
      log.warn({ error }, `${titleOf(volume)} stays without data reduction`);
      await store.write((tx) => updateVolume(tx, name, { compress: false, dedupe: false, isReductionPending: false }));
    }
  }
}
