import type { Db } from '@granary/kernel';
import { listDestinations, listSources } from '../mirror-jobs/repository.ts';
import type { Readings } from '../readings/readings.ts';

/** A change of a capacity by less than a thousandth of the whole is not worth another request. */
const PARTS = 1_000;
const PERCENT = 100;
const MIRROR_STEP_BYTES = 64 * 2 ** 20;

/** What lists show that changes by itself: compared with each reading, so that those who follow learn of it. */
export function shownOf(db: Db, readings: Readings) {
  return {
    drives: [...readings.drives].map(({ id, state }) => [id, state]),
    raidGroups: [...readings.groups].map(({ id, state, progress, members, spares, mismatches }) => [
      id,
      state,
      partsOf(progress ?? 0, 1, PERCENT),
      members.length,
      spares.length,
      mismatches,
    ]),
    pools: [...readings.pools].map(({ id, isOpen, totalBytes, usedBytes, groups }) => [
      id,
      isOpen,
      totalBytes,
      partsOf(usedBytes, totalBytes),
      groups.length,
    ]),
    volumes: [...readings.volumes].map(({ id, isLocked, sizeBytes, ownBytes, snapshotBytes, share }) => [
      id,
      isLocked,
      sizeBytes,
      partsOf(ownBytes + snapshotBytes, sizeBytes),
      share && partsOf(share.usedBytes, share.totalBytes),
    ]),
    servers: readings.sessions.map(({ protocol, server, address, controller }) => [
      protocol,
      server,
      address,
      controller,
    ]),
    controllers: readings.controllers.map(({ name, state }) => [name, state]),
    mirrorJobs: [...listSources(db), ...listDestinations(db)].map(({ name, state, round, position }) => [
      name,
      state,
      round,
      Math.floor(position / MIRROR_STEP_BYTES),
    ]),
  };
}

function partsOf(used: number, total: number, parts = PARTS): number {
  return total === 0 ? 0 : Math.floor((used / total) * parts);
}
