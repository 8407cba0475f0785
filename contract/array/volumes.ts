import { endpoint, type Group } from '../endpoint.ts';
import { boolean, capacity, choice, integer, list, name, optional, page, text, withDefault } from '../params.ts';
import { listOf, str } from '../records.ts';
import { envelope, response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { poolId, serverId, volumeId } from './ids.ts';
import { interval, IoPoint, performance } from './performance.ts';
import { VolumeServer } from './servers.ts';
import { allOptional, count } from './shared.ts';
import { Snapshot } from './snapshots.ts';
import { cappings, creationOptions, reduction, reductionAtFirst, shareOptions } from './volume-options.ts';
import { FreeVolume, Volume } from './volume-records.ts';
import { waiting } from '../params.ts';

const volumeNamed = response({ vol_name: str() });
const maxCapacity = optional(capacity('Size it never expands beyond'));
const autoExpandBy = optional(capacity('How much it expands by each time'));
const exportName = text('Name of the export', {
  max: 80,
  pattern: '^[^/\\\\"\\[\\]:|<>+=;,*?\\u0000-\\u001f\\u007f]+$',
  form: 'a name without / \\ " [ ] : | < > + = ; , * ? and control characters',
  example: 'reports',
});
const alertAbove = (what: string) =>
  optional(integer(`Raise an alert when the average exceeds this: ${what}; 0 is never`));

export const volumes = {
  list: endpoint('GET', '/volumes', {
    summary: 'List the volumes and shares',
    access: signedIn,
    params: {
      ...page,
      showonlyblock: withDefault(boolean('Only block volumes'), false),
      showonlyfile: withDefault(boolean('Only shares'), false),
      display_name: optional(text('Only those whose name holds this text', { max: 128 })),
    },
    reply: response({ volumes: listOf(Volume), count }),
  }),
  get: endpoint('GET', '/volumes/{id}', {
    summary: 'Show one volume or share',
    access: signedIn,
    params: { id: volumeId },
    reply: response({ volume: Volume }),
    errors: ['volume_not_found'],
  }),
  listFree: endpoint('GET', '/volumes/free', {
    summary: 'List the volumes and shares that are attached to no server',
    access: signedIn,
    params: page,
    reply: response({ volumes: listOf(FreeVolume), count }),
  }),
  create: endpoint('POST', '/volumes', {
    summary: 'Create a block volume or a file share',
    access: signedIn,
    params: {
      name: name('Name shown to users', { example: 'reports' }),
      capacity: capacity('Size'),
      pool: poolId,
      block: withDefault(boolean('A block volume; otherwise a file share'), true),
      crypt: withDefault(boolean('Encrypt it'), false),
      attachpolicies: withDefault(boolean('Attach the snapshot policies the array came with'), false),
      export_name: optional({
        ...exportName,
        description: 'Name a share is exported under; its own name when left out',
      }),
      ...reductionAtFirst,
      ...shareOptions,
      ...creationOptions,
      autoexpand: withDefault(boolean('Expand it when it runs full'), false),
      maxcapacity: maxCapacity,
      autoexpandby: autoExpandBy,
      flcenabled: withDefault(boolean('Scan it for file lifecycle policies'), false),
      ...cappings,
    },
    reply: volumeNamed,
    errors: [
      'pool_not_found',
      'name_taken',
      'capacity_refused',
      'pool_protected',
      'limit_reached',
      'volume_locked',
      'not_offered',
      'state_conflict',
    ],
  }),
  update: endpoint('PUT', '/volumes/{id}', {
    summary: 'Change the options of a volume or share; what is not sent stays as it is',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      ...allOptional({ ...reduction, ...shareOptions, ...cappings }),
      mtr_histograms: optional(boolean('Measure how large reads and writes are')),
      flcenabled: optional(
        choice(['enable', 'disable', 'resume', 'pause'], 'What to do with its scan for file lifecycle policies'),
      ),
      force: withDefault(boolean('Change it even while a server has it attached'), false),
    },
    reply: volumeNamed,
    errors: ['volume_not_found', 'volume_attached', 'state_conflict', 'not_offered'],
  }),
  delete: endpoint('DELETE', '/volumes/{id}', {
    summary: 'Delete a volume or share; it goes to the recycle bin where the array keeps one',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      force: withDefault(boolean('Delete its snapshots too'), false),
      ...waiting,
    },
    reply: volumeNamed,
    job: { until: ['deleted'] },
    errors: ['volume_not_found', 'volume_attached', 'volume_has_snapshots', 'state_conflict'],
  }),
  rename: endpoint('POST', '/volumes/{id}/rename', {
    summary: 'Rename a volume or share; its export keeps its name',
    access: creatorOf('volume'),
    params: { id: volumeId, new_name: name('New name', { example: 'reports 2026', aliases: ['newname'] }) },
    reply: volumeNamed,
    errors: ['volume_not_found', 'name_taken', 'state_conflict'],
  }),
  expand: endpoint('POST', '/volumes/{id}/expand', {
    summary: 'Make a volume or share larger',
    access: creatorOf('volume'),
    params: { id: volumeId, capacity: capacity('How much to add') },
    reply: volumeNamed,
    errors: ['volume_not_found', 'capacity_refused', 'state_conflict'],
  }),
  updateComment: endpoint('POST', '/volumes/{id}/update_comment', {
    summary: 'Write a note on a volume or share',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      new_comment: text('The note; empty removes it', { min: 0, example: 'Quarterly reports', aliases: ['comment'] }),
    },
    reply: volumeNamed,
    errors: ['volume_not_found', 'state_conflict'],
  }),
  listServers: endpoint('GET', '/volumes/{id}/servers', {
    summary: 'List the servers a volume or share is attached to',
    access: signedIn,
    params: { id: volumeId, ...page },
    reply: response({ servers: listOf(VolumeServer), count }),
    errors: ['volume_not_found'],
  }),
  detach: endpoint('POST', '/volumes/{id}/detach', {
    frees: true,
    summary: 'Detach a volume or share from servers',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      servers: list(serverId, 'The servers', { example: ['srv-00000001'], aliases: ['server_name'] }),
      force: withDefault(
        boolean('Taken because clients send it: a server that is connected never holds this up'),
        false,
      ),
    },
    reply: response({}),
    errors: ['volume_not_found', 'server_not_found', 'attachment_not_found', 'state_conflict'],
  }),
  setPermissions: endpoint('POST', '/volumes/{id}/attach_permissions', {
    summary: 'Set whether a server it is attached to may write',
    access: creatorOf('volume'),
    params: { id: volumeId, server_name: serverId, read_only: boolean('Reading only') },
    reply: response({}),
    errors: ['volume_not_found', 'server_not_found', 'attachment_not_found'],
  }),
  setExportName: endpoint('PUT', '/volumes/{id}/export_name', {
    summary: 'Change the name a share is exported under; clients have to mount it again',
    access: creatorOf('volume'),
    params: { id: volumeId, exportname: exportName },
    reply: volumeNamed,
    errors: ['volume_not_found', 'name_taken', 'state_conflict'],
  }),
  addExportName: endpoint('PUT', '/volumes/{id}/add_export_name', {
    summary: 'Export a share under one more name',
    access: creatorOf('volume'),
    params: { id: volumeId, exportname: exportName },
    reply: volumeNamed,
    errors: ['volume_not_found', 'name_taken', 'state_conflict', 'limit_reached'],
  }),
  removeExportName: endpoint('DELETE', '/volumes/{id}/export_name', {
    summary: 'Stop exporting a share under one of its further names',
    access: creatorOf('volume'),
    params: { id: volumeId, exportname: exportName },
    reply: volumeNamed,
    errors: ['volume_not_found', 'nothing_to_delete', 'state_conflict'],
  }),
  deleteFromRecycleBin: endpoint('DELETE', '/volumes/{id}/delete_volume_from_recycle_bin', {
    summary: 'Delete a volume from the recycle bin for good',
    access: creatorOf('volume'),
    params: { id: volumeId },
    reply: envelope({ status: 0 }, { volname: str() }, 'delete_volume_from_recycle_bin'),
    errors: ['volume_not_found', 'nothing_to_delete'],
  }),
  undelete: endpoint('POST', '/volumes/{id}/undelete', {
    summary: 'Bring a deleted volume or share back from the recycle bin, with its data and snapshots',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      new_name: optional(name('Another name for it, where its own has been taken since', { example: 'reports again' })),
    },
    reply: volumeNamed,
    errors: ['volume_not_found', 'name_taken', 'state_conflict'],
  }),
  updateProtection: endpoint('POST', '/volumes/{id}/update_protection', {
    summary: 'Set what happens as a share runs full; what is not sent stays as it is',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      capacityhistory: optional(integer('Minutes the consumption rate is taken over', { max: 525_600 })),
      alertmode: optional(integer('Raise an alert when it will be full within this many minutes', { max: 525_600 })),
      emergencymode: optional(
        integer('Raise an alert, and expand it if it may, when less than this many GB are left', { max: 1_000_000 }),
      ),
      autoexpand: optional(boolean('Expand it when it runs full')),
      maxcapacity: maxCapacity,
      autoexpandby: autoExpandBy,
    },
    reply: volumeNamed,
    errors: ['volume_not_found', 'state_conflict'],
  }),
  updatePerformanceThresholds: endpoint('POST', '/volumes/{id}/update_performance_thresholds', {
    summary: 'Set above which load a volume raises an alert; what is not sent stays as it is',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      read_iops_limit: alertAbove('reads a second'),
      read_mbps_limit: alertAbove('MB read a second'),
      read_latency_limit: alertAbove('milliseconds a read takes'),
      write_iops_limit: alertAbove('writes a second'),
      write_mbps_limit: alertAbove('MB written a second'),
      write_latency_limit: alertAbove('milliseconds a write takes'),
    },
    reply: volumeNamed,
    errors: ['volume_not_found', 'state_conflict'],
  }),
  restore: endpoint('POST', '/volumes/{id}/restore_snapshot', {
    summary: 'Take a volume or share back to one of its snapshots; a snapshot of its present data is taken first',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      snapshot: text('The snapshot, by its identifier or by its name among those of the volume', {
        max: 128,
        example: 'snap-00000001',
      }),
      force: withDefault(boolean('Restore it although servers have it attached; they have to mount it again'), false),
      ...waiting,
    },
    reply: response({ vol_name: str(), snapshot_name: str('Holds what the volume held before') }),
    job: { until: ['Available', 'In-use'] },
    errors: [
      'volume_not_found',
      'snapshot_not_found',
      'volume_attached',
      'capacity_refused',
      'pool_protected',
      'limit_reached',
      'state_conflict',
    ],
  }),
  listFileHistory: endpoint('GET', '/volumes/{id}/file_history', {
    summary: 'List the snapshots through which users of a share reach earlier versions of their files',
    access: signedIn,
    params: { id: volumeId, ...page },
    reply: response({ file_histories: listOf(Snapshot), count }),
    errors: ['volume_not_found', 'state_conflict'],
  }),
  deleteFileHistory: endpoint('DELETE', '/file_histories/{volume_id}', {
    summary: 'Delete the file history of a share',
    access: creatorOf('volume', 'volume_id'),
    params: { volume_id: volumeId },
    reply: volumeNamed,
    errors: ['volume_not_found', 'nothing_to_delete', 'state_conflict'],
  }),
  performance: performance('/volumes/{id}/performance', {
    of: 'a volume or share',
    params: { id: volumeId, interval },
    fields: { volume_name: str(), usages: listOf(IoPoint) },
    errors: ['volume_not_found'],
  }),
} satisfies Group;
