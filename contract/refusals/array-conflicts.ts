import { messagesOf } from './families.ts';

/** What the state of something at an array does not allow. */
export const arrayConflicts = {
  ...messagesOf('state_conflict', {
    // The array and its controllers
    change_not_delivered:
      'The change is on record, but the controllers have not applied it yet; it is sent to them again: {reason}',
    failover_running: 'A failover is under way already; wait until it ends.',
    no_standby: 'No standby controller is ready; wait until one is.',
    group_not_settled: 'RAID group {group} {state}; wait until that is over, or force the failover.',
    cannot_remove_yourself: 'You cannot remove yourself; ask another administrator.',
    last_administrator: 'User {username} is the last administrator; make another one first.',
    no_encryption_password: 'No encryption password is set; set one in the encryption settings.',
    encryption_password_race: 'Another request set an encryption password at the same time.',

    // Drives and RAID groups
    drive_state: 'Drive {id} {problem}.',
    drive_needed_by_group:
      'Without drive {id} RAID group {group} cannot serve its data: {left} of {width} drives would be left. Wait for a rebuild, replace what failed, or use force=YES.',
    group_state: 'RAID group {id} {problem}.',
    group_lacks_drives: 'RAID group {group} lacks too many drives to rebuild; bring drives back first.',
    replace_failed_first:
      'RAID group {group} has no redundancy left and drive {id} is not what failed; replace that one first, or use force=YES.',
    group_rebuilding: 'In RAID group {group} drive {id} is taking the place of another; wait for the rebuild.',
    drive_kinds_mixed: 'The drives are SSDs and hard disks mixed; choose one kind, or use force=YES.',

    // Pools
    pool_migration_target: 'A volume is being migrated to pool {id}; wait until that is done, or abort it.',
    pool_shrinking: 'Pool {id} is shrinking; wait until it is done, or cancel that.',
    pool_shrinking_before_expansion:
      'Pool {id} is shrinking; wait until it is done, or cancel that, and then expand it.',
    pool_damaged: 'Pool {id} is damaged: {damage}. Repair that to keep it, or delete it{along} with force=YES.',
    pool_not_shrinking: 'Pool {id} is not shrinking.',
    pool_shrinking_already: 'Pool {id} is shrinking already: {group} leaves it.',
    group_not_in_pool: 'RAID group {group} is not in pool {id}.',
    only_group_of_pool: 'RAID group {group} is the only one of pool {id}; delete the pool instead, or expand it first.',
    pool_shrunk_already: 'Pool {id} has been shrunk already; expand it if that was wrong.',

    // Volumes and shares
    volume_busy: 'Volume {id} is being {doing}.',
    volume_not_binned: 'Volume {id} is not in the recycle bin.',
    volume_state: 'Volume {id} {problem}.',
    volume_in_making: 'Volume {id} is being made or deleted.',
    volume_migrating: 'Volume {id} is being migrated by {job}; wait for that, or abort it.',
    volume_restoring: 'Volume {id} is being restored to snapshot {snapshot}; try again when that is done.',
    volume_mirrored: 'Volume {id} is mirrored to another array; break the mirror first.',
    volume_is_destination: 'Volume {id} is the destination of mirror {mirror}; break the mirror first.',
    not_a_share: 'Volume {id} is a block volume; this is for file shares.',
    nas_group_in_use: 'Group {group} has the members {members}; take them out of it first.',
    nas_number_taken: '{field} {number} belongs to {by}; choose another.',
    quota_project_in_use: 'Quota project {project} has {count directories}; take them out first, or use force=YES.',
    directory_in_project: 'Directory {path} is in quota project {project} already.',
    directory_overlaps:
      'Directory {path} overlaps {other} of quota project {project}; a file can be in one project only.',
    over_quota_already:
      'Over their quota already, so that they could write nothing more: {scope} {who}. Raise it, or use force=YES.',

    // Snapshots, their policies and sets
    volume_gone_meanwhile: 'A volume was deleted while its snapshot was taken.',
    snapshot_needed: 'Snapshot {id} {needed}',
    snapshot_policy_attached: 'Policy {policy} is attached to {count volumes}; detach it first.',
    policy_attached_already: 'Policy {policy} is attached to {to} already.',
    rule_state: 'Rule {rule} is {state}.',
    rule_of_mirror: 'Rule {rule} belongs to mirror job {mirror}; pause or break the mirror instead.',
    snapshot_set_has_clones: 'Snapshot set {id} has clones already; delete them first.',
    snapshot_set_empty: 'Snapshot set {id} has no snapshots any more.',
    snapshot_set_being_taken: 'Snapshot set {id} is being taken.',
    snapshot_set_taken: 'Snapshot set {id} was taken already.',
    snapshot_set_not_taken: 'Snapshot set {id} was not taken yet; take it, or cancel it.',
    snapshot_set_too_late: 'Snapshot set {id} was not taken in time: writes were let go. Suspend the groups again.',
    volume_suspended: 'Volume {id} is held back for snapshot set {set} already.',

    // Migrations and mirrors
    migration_state: 'Migration {name} is {state}; it has to be {needed}.',
    migration_complete: 'Migration {name} is complete already.',
    volume_in_pool: '{volume} is in pool {pool} already; choose another.',
    snapshot_in_progress: 'A snapshot of {volume} is being taken or deleted; try again in a moment.',
    migrate_with_snapshots:
      '{volume} has {count snapshots}; send migratesnap=YES to move them too, or delete them first.',
    nothing_received: 'Volume {id} has not received anything whole yet; try again later.',
    mirror_without_volume: 'Mirror {name} has no volume yet.',
    mirror_base_differs: 'Mirror {name} holds {base}, not {wanted}.',
    mirror_holds_data: 'Mirror {name} holds data; break it instead.',
    mirror_not_received: 'Mirror {name} has not received {snapshot}.',
    mirror_broken_already: 'Mirror {name} is broken already.',
    mirror_snapshot_refused: 'The destination of {name} does not take {snapshot} any more.',
    mirror_destination_here: 'The destination of mirror {name} is here; {what} at its source.',
    mirror_given_up: 'Mirror {name} was given up.',
    mirror_state: 'Mirror {name} is {state}, not {needed}.',
    remote_not_encrypting:
      'Volume {id} is encrypted, and remote array {remote} ({name}) has no encryption password that is active; set or restore it there first.',
    remote_without_shares: 'Remote array {remote} ({name}) does not know file shares; bring it up to date first.',
    remote_array_in_use: 'Remote array {remote} ({name}) is the destination of {count mirrors}; break them first.',
    own_address: 'This is the address of this array; give that of another one.',
    same_array: 'This is the address of the same array; give that of another one.',
    no_agreement_key: 'The key for the agreement is none.',
    peer_has_mirrors: 'It still has {count mirrors} here that have not ended.',

    // Servers
    share_smb_only: 'Share {id} is not served over NFS; set its smbonly to NO first.',
    server_fibre_channel_only:
      'Server {server} has Fibre Channel ports only, and this array serves volumes over iSCSI; give the server an iqn or an address first.',
    server_without_address:
      'Server {server} has no address, and over NFS servers are known by nothing else; give it one first.',
    attached_as_other_lun: 'Volume {volume} is attached to server {server} as LUN {lun} already; detach it first.',
    attached_already:
      'Volume {volume} is attached to server {server} already; change what it may do with POST /volumes/{volume}/attach_permissions.',
    server_twin:
      'Server {server} ({name}) has the same iqn and address already; use that one, give another address, or use force=YES.',
    wwpn_taken: 'WWPN {wwpn} belongs to server {server}; remove it there first.',
    server_in_use: 'Server {server} ({name}) still has {volumes} attached; detach them first.',

    // File lifecycle
    lifecycle_not_ordered:
      'Array {name} was ordered without file lifecycle; its owner switches it on at the portal (granary arrays enable-file-lifecycle).',
    extension_in_category: 'Extension {extension} is in category {category}; an extension is in one category.',
    lifecycle_policy_attached: 'Policy {policy} is attached to {count shares}; detach it first.',
    lifecycle_policies_of_share: 'Share {share} has {max} file lifecycle policies, as many as there can be.',
    policy_not_attached: 'Policy {policy} is not attached to {share}.',
    lifecycle_rule_state: 'Policy {policy} is {state} for {share}.',
    lifecycle_not_enabled: 'File lifecycle of share {share} is {state}; enable or resume it first (flcenabled).',
    share_being_scanned: 'Share {share} is being scanned already.',
    share_without_lifecycle_policy: 'Share {share} has no file lifecycle policy that runs; attach one.',
    lifecycle_disabled: 'File lifecycle is disabled on share {share}; enable it first with flcenabled=enable.',
    no_snapshot_taken: 'No snapshot of {volume} was taken.',
    lifecycle_command: 'File lifecycle of share {share} is {state}; flcenabled={command} needs it to be {needed}.',
  }),
};
