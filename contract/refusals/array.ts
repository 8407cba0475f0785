import { arrayConflicts } from './array-conflicts.ts';
import { messagesOf } from './families.ts';

/** What arrays refuse, by family. */
export const arrayRefusals = {
  ...arrayConflicts,
  ...messagesOf('not_offered', {
    smb_not_served: 'This release serves shares over NFS; SMB is not served yet.',
    traffic_not_encrypted:
      'This array does not encrypt its network traffic: leave {field} out or set it to NO, and put IPsec on the network if it is needed.',
    no_object_storage_in_pools:
      'Pools cannot use space of an object storage destination; expand this one by RAID groups instead.',
    engine_lacks_part: 'The {engine} engine of this array has no {part}.',
    no_file_scans: 'This array does not scan files for lifecycle policies.',
  }),
  ...messagesOf('capacity_refused', {
    replacement_too_small: '{has}, but the drives of RAID group {group} need {needed} GiB; take a larger one.',
    spare_too_small: 'Drive {id} has {has} GiB; as a hot spare it needs {needed} GiB.',
    migration_pool_full: 'Pool {pool} has {free} free and the volume needs {needed}; expand the pool first.',
    groups_too_full: '{groups} {have} {free} free{asked}; {less}add RAID groups.',
    pool_full: 'Pool {id} is full; expand it or delete something.',
    shrink_leaves_too_little:
      'Pool {id} uses {used} and would have {left} left without {group}; delete something or expand it first.',
    volume_cannot_shrink: '{volume} cannot become smaller.',
    above_max_capacity: '{volume} may have at most {max}; raise that limit first.',
    share_too_small: 'A share has at least {min}; ask for more.',
    volume_too_large: 'A volume has at most {max} TB; ask for less.',
  }),
  ...messagesOf('limit_reached', {
    file_restores_limit: 'Of share {share} {max} files are being restored already; wait for some of them.',
    file_categories_limit: 'An array has at most {max} file categories.',
    lifecycle_policies_limit: 'An array has at most {max} file lifecycle policies.',
    migrations_limit: '{max} migrations run or wait already; wait for one, or pause one.',
    mirrors_of_peer_limit: 'At most {max} mirrors of one array are taken.',
    mirror_sources_limit: 'An array is the source of at most {max} mirrors.',
    nas_accounts_limit: 'An array has at most {max} NAS {what}; delete some first.',
    buckets_limit: 'An array knows at most {max} buckets.',
    peers_limit: 'An array is known to at most {max} others.',
    pools_limit: 'An array has at most {max} pools; delete one first.',
    quota_projects_limit: 'Share {share} has {max} quota projects, as many as there can be.',
    quota_directories_limit: 'The quota projects of share {share} have {max} directories, as many as there can be.',
    raid_groups_limit: 'An array has at most {max} RAID groups.',
    hot_spares_limit: 'RAID group {group} has {max} hot spares, as many as it can.',
    remote_arrays_limit: 'An array knows at most {max} others.',
    attachments_limit: 'One call makes at most {max} attachments; use several.',
    luns_limit: 'Server {server} has no free LUN; detach a volume first.',
    servers_limit: 'An array knows at most {max} servers; delete some first.',
    export_names_limit: 'A share has at most {max} export names; remove one first.',
    snapshot_policies_limit: 'An array has at most {max} snapshot policies.',
    policies_of_volume_limit: 'Volume {volume} has {max} policies, as many as there can be.',
    snapshot_sets_limit: 'An array has at most {max} snapshot sets; delete some first.',
    suspended_sets_limit: 'At most {max} snapshot sets can be suspended at a time.',
    snapshots_of_volume_limit: 'Volume {volume} has {max} snapshots, as many as there can be; delete some first.',
    snapshots_limit: 'The array has {max} snapshots, as many as there can be; delete some first.',
    tags_limit: '{owner} has {max} tags, which is the most; delete one first.',
    users_limit: 'An array has at most {max} users.',
    volumes_limit: 'An array has at most {max} volumes; delete some first.',
  }),
};
