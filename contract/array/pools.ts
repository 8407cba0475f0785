import { endpoint, type Group } from '../endpoint.ts';
import { boolean, capacity, choice, integer, list, name, optional, page, text, withDefault } from '../params.ts';
import { int, listOf, nullable, num, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { destinationId, poolId, raidGroupId } from './ids.ts';
import { interval, IoPoint, performance } from './performance.ts';
import { RaidGroup } from './raid-groups.ts';
import { count } from './shared.ts';
import { Volume } from './volume-records.ts';
import { waiting } from '../params.ts';

const poolTypes = [
  'Repository Storage',
  'Transactional Workloads',
  'Archival Storage',
  'Depot Storage',
  'IOPs-Optimized',
  'Balanced',
  'Throughput-Optimized',
] as const;

export const Pool = record('Pool', {
  name: str(),
  display_name: str(),
  status: str('normal, shrinking <n>%, failed (not all of it can be read), creating or deleting'),
  capacity: int('Whole GB, cut'),
  available_capacity: num('GB that are free, cut to whole MB'),
  provisioned_capacity: num('GB promised to volumes, those in the recycle bin included'),
  version: int(),
  data_type: str(),
  mount_sync: yesNo(),
  access_time_update: nullable(yesNo()),
  raid_group_name: str('Comma list of its RAID groups'),
  mode: oneOf('simple', 'stripe'),
  stripe_size: int('KB that lie on one RAID group before the next one takes its turn; 0 where they are not spread'),
  cache: yesNo(),
  cow_cache: yesNo(),
  capacity_mode: oneOf('normal', 'alert', 'protected', 'emergency'),
  capacity_history: int('Minutes the consumption rate is taken over'),
  alert_mode: int('Minutes before it is full'),
  protected_mode: int('Minutes before it is full'),
  emergency_mode: int('GB left'),
  chunk_size: int('KB: space is handed out in pieces of this size'),
  type: oneOf(...poolTypes),
  created_at: utc(),
  modified_at: utc(),
});

const poolNamed = response({ pool_name: str() });
const volumePage = response({ volumes: listOf(Volume), count });
const raidGroupIds = list(raidGroupId, 'The RAID groups it is made of', { max: 100, example: ['RaidGroup-1'] });
const COW_CACHE = 'Cache what is read through snapshots and clones, too';
const cowCache = boolean(COW_CACHE);

const YEAR_MINUTES = 525_600;
const minutes = (description: string) => optional(integer(description, { max: YEAR_MINUTES }));
const gigabytes = (description: string) => optional(integer(description, { max: 1_000_000 }));

export const pools = {
  list: endpoint('GET', '/pools', {
    summary: 'List the pools',
    access: signedIn,
    params: page,
    reply: response({ pools: listOf(Pool), count }),
  }),
  get: endpoint('GET', '/pools/{id}', {
    summary: 'Show one pool',
    access: signedIn,
    params: { id: poolId },
    reply: response({ pool: Pool }),
    errors: ['pool_not_found'],
  }),
  create: endpoint('POST', '/pools', {
    summary: 'Make a pool, the space volumes are cut from, of RAID groups',
    access: signedIn,
    params: {
      display_name: name('Name shown to users', { example: 'main' }),
      capacity: optional(
        capacity('How much of the RAID groups it takes, of each in proportion; all whole GB when left out'),
      ),
      raid_groups: optional({
        ...raidGroupIds,
        description:
          'The RAID groups it is made of; only an array whose engine has none does without, and needs capacity',
      }),
      cache: optional(
        boolean(
          "Keep what is read lately in memory: pools that do so share the array's cache evenly, which is at most a quarter of its machine's memory; as the pool type has it when left out",
        ),
      ),
      cowcache: optional(boolean(`${COW_CACHE}; as the pool type has it when left out`)),
      mode: optional(
        choice(
          ['stripe', 'simple'],
          'Spread over the RAID groups, or fill one after the other; as the pool type has it when left out',
        ),
      ),
      pooltype: withDefault(
        choice(
          poolTypes,
          'The work it is tuned for. It decides what is not sent of `mode`, `cache` and `cowcache`: Transactional Workloads and IOPs-Optimized stripe and use the cache, Balanced and Throughput-Optimized stripe, the others fill one RAID group after the other without the cache',
        ),
        'Repository Storage',
      ),
    },
    reply: poolNamed,
    errors: [
      'raid_group_not_found',
      'raid_group_in_use',
      'name_taken',
      'capacity_refused',
      'limit_reached',
      'not_offered',
    ],
  }),
  delete: endpoint('DELETE', '/pools/{id}', {
    summary: 'Delete an empty pool, or by force a damaged one with what is left in it',
    access: adminOnly,
    params: {
      id: poolId,
      force: withDefault(
        boolean('Delete a pool whose status is failed, with its volumes and snapshots; others have to be empty', {
          example: false,
        }),
        false,
      ),
    },
    reply: poolNamed,
    errors: ['pool_not_found', 'pool_not_empty', 'volume_attached', 'state_conflict'],
  }),
  rename: endpoint('POST', '/pools/{id}/rename', {
    summary: 'Rename a pool',
    access: adminOnly,
    params: { id: poolId, new_name: name('New name', { example: 'archive', aliases: ['newname'] }) },
    reply: poolNamed,
    errors: ['pool_not_found', 'name_taken'],
  }),
  listRaidGroups: endpoint('GET', '/pools/{id}/raid_groups', {
    summary: 'List the RAID groups of a pool',
    access: signedIn,
    params: { id: poolId, ...page },
    reply: response({ raid_groups: listOf(RaidGroup), count }),
    errors: ['pool_not_found'],
  }),
  listVolumes: endpoint('GET', '/pools/{id}/volumes', {
    summary: 'List the volumes of a pool',
    access: signedIn,
    params: { id: poolId, ...page },
    reply: volumePage,
    errors: ['pool_not_found'],
  }),
  expand: endpoint('POST', '/pools/{id}/expand', {
    summary: 'Add RAID groups, more of the RAID groups it has, or space at an object storage destination, to a pool',
    access: adminOnly,
    params: {
      id: poolId,
      raid_groups: optional({
        ...raidGroupIds,
        description:
          'The RAID groups to add, or those of the pool to use more of; when left out, all of the pool; not together with obsdestname',
      }),
      capacity: optional(capacity('How much of what is free in them to add; all whole GB when left out')),
      obsdestname: optional({
        ...destinationId,
        description: 'The object storage destination to add; not together with raid_groups',
      }),
      cloud_size: optional(
        integer('GB to use at the destination, a multiple of 20', { min: 20, max: 1_000_000, multipleOf: 20 }),
      ),
      sse: optional(text('Encryption the destination applies', { max: 32, example: 'AES256' })),
    },
    reply: poolNamed,
    errors: [
      'pool_not_found',
      'raid_group_not_found',
      'raid_group_in_use',
      'destination_not_found',
      'capacity_refused',
      'state_conflict',
      'not_offered',
    ],
  }),
  shrink: endpoint('POST', '/pools/{id}/shrink', {
    summary: 'Move the data off a RAID group, or out of object storage, and take that space from the pool',
    access: adminOnly,
    params: {
      id: poolId,
      raid_group: optional(raidGroupId),
      obsshrinksize: optional(
        integer('GB of object storage to give up, a multiple of 20', { min: 20, max: 1_000_000, multipleOf: 20 }),
      ),
      ...waiting,
    },
    reply: poolNamed,
    job: { until: ['normal', 'alert', 'protected', 'emergency'] },
    errors: ['pool_not_found', 'raid_group_not_found', 'capacity_refused', 'state_conflict', 'not_offered'],
  }),
  cancelShrink: endpoint('POST', '/pools/{id}/cancel_shrink', {
    summary: 'Stop shrinking a pool; it keeps its space',
    access: adminOnly,
    params: { id: poolId },
    reply: poolNamed,
    errors: ['pool_not_found', 'state_conflict'],
  }),
  setSsdCoolOff: endpoint('POST', '/pools/{id}/update_ssd_cool_off', {
    summary: 'Set how long data stays in the cache after its last use',
    access: adminOnly,
    params: {
      id: poolId,
      cool_off_hours: integer('Hours; 0 keeps it as long as there is room', { max: 8760, example: 24 }),
    },
    reply: response({}),
    errors: ['pool_not_found'],
  }),
  updateProtection: endpoint('POST', '/pools/{id}/update_protection', {
    summary: 'Set what happens as a pool runs full; what is not sent stays as it is, and 0 turns a threshold off',
    access: adminOnly,
    params: {
      id: poolId,
      capacityhistory: minutes('Minutes the consumption rate is taken over; 60 at first'),
      alertmode: minutes('Raise an alert when it will be full within this many minutes; 60 at first'),
      protectedmode: minutes('Refuse new volumes when it will be full within this many minutes; 10 at first'),
      emergencymode: gigabytes(
        'Refuse new volumes and delete the oldest snapshots when less than this many GB are left; 1 at first, or 0 in a pool below 20 GB',
      ),
      effectivecapacityhistory: minutes(
        'capacityhistory, for what servers could still write if it is reduced as what is there was; the worse of both views counts',
      ),
      effectivealertmode: minutes('alertmode, for the capacity after data reduction'),
      effectiveprotectedmode: minutes('protectedmode, for the capacity after data reduction'),
      effectiveemergencymode: gigabytes('emergencymode, for the capacity after data reduction'),
    },
    reply: poolNamed,
    errors: ['pool_not_found'],
  }),
  listDestinationVolumes: endpoint('GET', '/pools/{id}/destination_volumes', {
    summary: 'List the volumes of a pool that mirrors from other arrays write to',
    access: signedIn,
    params: { id: poolId, ...page },
    reply: volumePage,
    errors: ['pool_not_found'],
  }),
  toggleCache: endpoint('POST', '/pools/{id}/toggle_cache', {
    summary: "Turn a pool's cache on or off",
    access: adminOnly,
    params: { id: poolId, command: choice(['enable', 'disable'], 'On or off'), cowcache: optional(cowCache) },
    reply: poolNamed,
    errors: ['pool_not_found', 'state_conflict'],
  }),
  setCowCache: endpoint('POST', '/pools/{id}/cow_cache', {
    summary: 'Turn the cache for what is read through snapshots and clones on or off',
    access: adminOnly,
    params: { id: poolId, cowcache: cowCache },
    reply: poolNamed,
    errors: ['pool_not_found', 'state_conflict'],
  }),
  listRecycleBin: endpoint('GET', '/pools/{id}/volumes_in_recycle_bin', {
    summary: "List the deleted volumes a pool's recycle bin still holds",
    access: signedIn,
    params: { id: poolId, ...page },
    reply: response({
      volumes: listOf(str('JSON text: name, display_name, cg_name, virtual_capacity and deleted_at')),
      count,
    }),
    errors: ['pool_not_found'],
  }),
  performance: performance('/pools/{id}/performance', {
    of: 'a pool',
    params: { id: poolId, interval },
    fields: { pool_name: str(), usages: listOf(IoPoint) },
    errors: ['pool_not_found'],
  }),
} satisfies Group;
