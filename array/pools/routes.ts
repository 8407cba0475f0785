import { bytes, GB, type Bytes, Jobs } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import { answerWhenDone } from '../waiting.ts';
import type { PoolService } from './service.ts';
import { tuningOf } from './types.ts';
import { poolView } from './view.ts';

export function poolRoutes(pools: PoolService, jobs: Jobs): ArrayHandlers<'pools'> {
  return {
    ...structureRoutes(pools, jobs),
    ...settingRoutes(pools),
  };
}

function structureRoutes(pools: PoolService, jobs: Jobs) {
  return {
    list: (page) => {
      const { pools: found, count } = pools.list(page);
      return { pools: found.map(poolView), count };
    },
    get: async ({ id }) => ({ pool: poolView(await pools.show(id)) }),
    create: async ({ display_name, capacity, raid_groups, cache, cowcache, mode, pooltype }, { actor }) => {
      const wanted = { displayName: display_name, capacityMb: capacity, groups: raid_groups ?? [] };
      const { name } = await pools.create(
        { ...wanted, ...tuningOf(pooltype, { cache, cowCache: cowcache, mode }), type: pooltype },
        actor.username,
      );
      return { pool_name: name };
    },
    delete: async ({ id, force }, { actor }) => {
      await pools.delete(id, force, actor.username);
      return { pool_name: id };
    },
    rename: async ({ id, new_name }, { actor }) => {
      await pools.rename(id, new_name, actor.username);
      return { pool_name: id };
    },
    expand: async ({ id, raid_groups, capacity, obsdestname, cloud_size, sse }, { actor }) => {
      const cloud = { destination: obsdestname, cloudGb: cloud_size, cloudEncryption: sse };
      await pools.expand(id, { groups: raid_groups, capacityMb: capacity, ...cloud }, actor.username);
      return { pool_name: id };
    },
    shrink: async ({ id, raid_group, obsshrinksize, timeout }, { actor }) => {
      const job = await pools.shrink(id, raid_group, obsshrinksize, actor.username);
      return answerWhenDone(jobs, job, timeout, () => ({ pool_name: id }));
    },
    cancelShrink: async ({ id }, { actor }) => {
      await pools.cancelShrink(id, actor.username);
      return { pool_name: id };
    },
  } satisfies ArrayHandlers<'pools'>;
}

function settingRoutes(pools: PoolService) {
  return {
    setSsdCoolOff: async ({ id, cool_off_hours }, { actor }) => {
      await pools.setCoolOff(id, cool_off_hours, actor.username);
      return {};
    },
    updateProtection: async ({ id, ...sent }, { actor }) => {
      const change = {
        historyMinutes: sent.capacityhistory,
        alertMinutes: sent.alertmode,
        protectedMinutes: sent.protectedmode,
        emergencyBytes: gigabytes(sent.emergencymode),
        effectiveHistoryMinutes: sent.effectivecapacityhistory,
        effectiveAlertMinutes: sent.effectivealertmode,
        effectiveProtectedMinutes: sent.effectiveprotectedmode,
        effectiveEmergencyBytes: gigabytes(sent.effectiveemergencymode),
      };
      await pools.updateProtection(id, change, actor.username);
      return { pool_name: id };
    },
    toggleCache: async ({ id, command, cowcache }, { actor }) => {
      await pools.setCache(id, { cache: command === 'enable', cowCache: cowcache }, actor.username);
      return { pool_name: id };
    },
    setCowCache: async ({ id, cowcache }, { actor }) => {
      await pools.setCache(id, { cowCache: cowcache }, actor.username);
      return { pool_name: id };
    },
  } satisfies ArrayHandlers<'pools'>;
}

function gigabytes(count: number | undefined): Bytes | undefined {
  return count === undefined ? undefined : bytes(count * GB);
}
