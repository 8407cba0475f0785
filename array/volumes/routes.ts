import type { RecordOf } from '@granary/contract';
import type { VolumeServer } from '@granary/contract/array';
import { bytes, type Tx } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { PerformanceService } from '../performance/service.ts';
import type { ArrayTools } from '../tools.ts';
import { MB } from '../units.ts';
import { answerWhenDone } from '../waiting.ts';
import { readNewVolume, readProtection, readThresholds, readVolumeChange } from './request.ts';
import type { VolumeService } from './service.ts';

/** The servers volumes are attached to. */
interface VolumeServers {
  ofVolume(volume: string, start: number, limit: number): { servers: RecordOf<typeof VolumeServer>[]; count: number };
  detach(volume: string, servers: readonly string[], actor: string): Promise<void>;
  setReadOnly(volume: string, server: string, isReadOnly: boolean, actor: string): Promise<void>;
}

interface DefaultPolicies {
  attachDefaultsIn(tx: Tx, volume: string, actor: string): void;
}

interface Services {
  readonly jobs: ArrayTools['jobs'];
  readonly servers: VolumeServers;
  readonly snapshotPolicies: DefaultPolicies;
  readonly performance: PerformanceService;
}

export function volumeRoutes(volumes: VolumeService, services: Services): ArrayHandlers<'volumes'> {
  return {
    ...records(volumes, services),
    ...attachments(volumes, services),
    ...exportNames(volumes),
    ...limits(volumes),
  };
}

function records(volumes: VolumeService, { jobs, snapshotPolicies, performance }: Services) {
  return {
    list: ({ start, limit, showonlyblock, showonlyfile, display_name: displayName }) => {
      // No volume is both.
      if (showonlyblock && showonlyfile) return { volumes: [], count: 0 };
      const kind = showonlyblock ? 'block' : showonlyfile ? 'file' : undefined;
      return volumes.list({ kind, displayName }, { start, limit });
    },
    get: async ({ id }) => ({ volume: await volumes.show(id) }),
    listFree: (page) => volumes.listFree(page),
    create: async (input, { actor }) => {
      const { name } = await volumes.create(readNewVolume(input), actor.username, (tx, made) => {
        if (input.attachpolicies) snapshotPolicies.attachDefaultsIn(tx, made, actor.username);
        if (input.flcenabled) volumes.changeLifecycleIn(tx, made, 'enable', actor.username);
      });
      return { vol_name: name };
    },
    update: async ({ id, force, flcenabled, ...input }, { actor }) => {
      const how = { isForced: force, lifecycle: flcenabled };
      await volumes.update(id, readVolumeChange({ id, force, ...input }), how, actor.username);
      return { vol_name: id };
    },
    delete: async ({ id, force, timeout }, { actor }) => {
      const job = await volumes.delete(id, { force }, actor.username);
      const answer = { vol_name: id };
      return job === undefined ? answer : answerWhenDone(jobs, job, timeout, () => answer);
    },
    deleteFromRecycleBin: async ({ id }, { actor }) => {
      const job = await volumes.deleteFromBin(id, actor.username);
      return answerWhenDone(jobs, job, BIN_TIMEOUT_SECONDS, () => ({ volname: id }));
    },
    undelete: async ({ id, new_name: newName }, { actor }) => {
      await volumes.undelete(id, newName, actor.username);
      return { vol_name: id };
    },
    rename: async ({ id, new_name }, { actor }) => {
      await volumes.rename(id, new_name, actor.username);
      return { vol_name: id };
    },
    expand: async ({ id, capacity }, { actor }) => {
      await volumes.expandBy(id, bytes(capacity * MB), actor.username);
      return { vol_name: id };
    },
    updateComment: async ({ id, new_comment }, { actor }) => {
      await volumes.comment(id, new_comment, actor.username);
      return { vol_name: id };
    },
    performance: ({ id, interval }) => {
      const { name, createdAt } = volumes.get(id);
      const usages = performance.points({ kind: 'volume', id: name, createdAt }, interval);
      return { volume_name: name, usages, count: usages.length };
    },
  } satisfies ArrayHandlers<'volumes'>;
}

function attachments(volumes: VolumeService, { servers }: Services) {
  return {
    listServers: ({ id, start, limit }) => servers.ofVolume(volumes.get(id).name, start, limit),
    detach: async ({ id, servers: names }, { actor }) => {
      await servers.detach(volumes.get(id).name, names, actor.username);
      return {};
    },
    setPermissions: async ({ id, server_name, read_only }, { actor }) => {
      await servers.setReadOnly(volumes.get(id).name, server_name, read_only, actor.username);
      return {};
    },
  } satisfies ArrayHandlers<'volumes'>;
}

function exportNames(volumes: VolumeService) {
  return {
    setExportName: async ({ id, exportname }, { actor }) => {
      await volumes.changeExport(id, 'rename', exportname, actor.username);
      return { vol_name: id };
    },
    addExportName: async ({ id, exportname }, { actor }) => {
      await volumes.changeExport(id, 'add', exportname, actor.username);
      return { vol_name: id };
    },
    removeExportName: async ({ id, exportname }, { actor }) => {
      await volumes.changeExport(id, 'remove', exportname, actor.username);
      return { vol_name: id };
    },
  } satisfies ArrayHandlers<'volumes'>;
}

function limits(volumes: VolumeService) {
  return {
    updateProtection: async ({ id, ...input }, { actor }) => {
      await volumes.protect(id, readProtection(input), actor.username);
      return { vol_name: id };
    },
    updatePerformanceThresholds: async ({ id, ...input }, { actor }) => {
      await volumes.setThresholds(id, readThresholds(input), actor.username);
      return { vol_name: id };
    },
  } satisfies ArrayHandlers<'volumes'>;
}

/** The specification gives this call no timeout of its own. */
const BIN_TIMEOUT_SECONDS = 30;
