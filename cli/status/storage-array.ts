import type { ArrayClient } from '@granary/client';
import { capacityText } from '../output/units.ts';
import type { ArrayReport, Finding } from './report.ts';

/** Above this share of its capacity a pool is called full, whatever its own alerts say. */
const FULL_PERCENT = 90;

type Seen = Pick<ArrayReport, 'capacity' | 'used' | 'drives'> & { readonly findings: readonly Finding[] };
type Listed<G extends 'pools' | 'drives' | 'raidGroups' | 'mirrorJobs' | 'controllers'> = Awaited<
  ReturnType<ArrayClient[G]['list']>
>;

export async function inspectStorageArray(client: ArrayClient): Promise<Seen> {
  const [{ pools }, { disks }, { raid_groups: groups }, { array_mirror_jobs: mirrors }, { vcontrollers }] =
    await Promise.all([
      client.pools.list(),
      client.drives.list(),
      client.raidGroups.list(),
      client.mirrorJobs.list(),
      client.controllers.list(),
    ]);
  const capacity = pools.reduce((sum, pool) => sum + pool.capacity, 0);
  const free = pools.reduce((sum, pool) => sum + pool.available_capacity, 0);
  return {
    capacity,
    used: Math.max(0, capacity - free),
    drives: disks.length,
    findings: [
      ...pools.flatMap(ofPool),
      ...disks.flatMap(ofDrive),
      ...groups.flatMap(ofGroup),
      ...mirrors.flatMap(ofMirror),
      ...vcontrollers.flatMap(ofController),
    ],
  };
}

function ofPool(pool: Listed<'pools'>['pools'][number]): Finding[] {
  const name = `pool ${pool.display_name}`;
  if (pool.status.startsWith('failed')) return [{ kind: 'failing', what: `${name} is ${pool.status}` }];
  const used = Math.max(0, pool.capacity - pool.available_capacity);
  const percent = pool.capacity === 0 ? 0 : Math.floor((used / pool.capacity) * 100);
  const left = capacityText(pool.available_capacity, 'GiB');
  if (pool.capacity_mode !== 'normal' || percent >= FULL_PERCENT)
    return [
      { kind: 'full', what: `${name} is ${percent}% full, ${left} left; its capacity mode is ${pool.capacity_mode}` },
    ];
  return pool.status === 'normal' ? [] : [{ kind: 'underway', what: `${name} is ${pool.status}` }];
}

function ofDrive({ display_name: name, status }: Listed<'drives'>['disks'][number]): Finding[] {
  if (/^(Failed|Absent)/.test(status)) return [{ kind: 'failing', what: `drive ${name} is ${status}` }];
  return /^(Normal|Available)$/.test(status) ? [] : [{ kind: 'underway', what: `drive ${name}: ${status}` }];
}

function ofGroup({ display_name: name, status }: Listed<'raidGroups'>['raid_groups'][number]): Finding[] {
  if (/^(Failed|Degraded)/.test(status)) return [{ kind: 'failing', what: `RAID group ${name} is ${status}` }];
  return status === 'Normal' ? [] : [{ kind: 'underway', what: `RAID group ${name}: ${status}` }];
}

function ofMirror(job: Listed<'mirrorJobs'>['array_mirror_jobs'][number]): Finding[] {
  const name = `mirror ${job.job_display_name}`;
  if (/^(Disconnected|Broken)/.test(job.status)) return [{ kind: 'failing', what: `${name} is ${job.status}` }];
  return job.status === 'Idle' ? [] : [{ kind: 'underway', what: `${name}: ${job.status}` }];
}

function ofController({ display_name: name, state }: Listed<'controllers'>['vcontrollers'][number]): Finding[] {
  return state === 'failed' ? [{ kind: 'failing', what: `controller ${name} has failed` }] : [];
}
