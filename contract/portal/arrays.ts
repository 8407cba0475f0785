import { endpoint, type Group } from '../endpoint.ts';
import {
  boolean,
  choice,
  integer,
  json,
  list,
  name,
  optional,
  page,
  recordNumber,
  text,
  withDefault,
} from '../params.ts';
import { listOf, str } from '../records.ts';
import { envelope, success } from '../reply.ts';
import { adminOnly, ownerOnly, signedIn } from './access.ts';
import {
  ArrayContents,
  ArrayIdentity,
  arrayStates,
  CompatibleInterface,
  ListedArray,
  OrderedArray,
  ShownArray,
} from './array-records.ts';
import { Type } from '../schema.ts';

const arrayId = recordNumber('The array');
const deletedArrayId = { ...arrayId, listedWith: { restorable: true } };
const zone = text('Zone all drives come from; leave it out to let Granary choose', { max: 64, example: 'zone_0' });
const messageReply = success({ message: str() });
const interfaceChanged = envelope({ status: 0 }, { message: str() });

const drives = json<Record<string, number>>(
  Type.Record(Type.String({ maxLength: 128 }), Type.Integer({ minimum: 1, maximum: 10_000 }), {
    minProperties: 1,
    maxProperties: 32,
  }),
  'How many drives of each type, by drive type key',
  { example: { SSD_10GB: 2 } },
);

/** Any value switches such a feature on; leaving it out leaves it off. A cloud that has none refuses it. */
const feature = (what: string) =>
  optional(text(`Any value asks for ${what}; refused where the cloud has none`, { max: 64, example: 'YES' }));

export const arrays = {
  list: endpoint('GET', '/arrays', {
    summary: 'List your arrays; an administrator sees all',
    access: signedIn,
    params: {
      ...page,
      status: optional(
        choice(arrayStates, 'Only arrays in this state; deleted ones are listed only so', { example: 'created' }),
      ),
      name: optional(name('Only the array of this name')),
      restorable: withDefault(boolean('Only deleted arrays that can still be undeleted'), false),
    },
    reply: success({ data: listOf(ListedArray) }),
  }),
  get: endpoint('GET', '/arrays/{array_id}', {
    summary: 'Show one array',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: success({ data: ShownArray }),
    errors: ['not_found'],
  }),
  create: endpoint('POST', '/arrays', {
    summary: 'Order an array: block and file, or object storage',
    access: signedIn,
    params: {
      name: name('Name of the array', { example: 'tank' }),
      moderate: withDefault(
        boolean('true asks an administrator; false acts at once for those who may', { example: false }),
        false,
      ),
      description: optional(text('What it is for', { min: 0, max: 1024, example: 'for the database' })),
      provider: text('Provider key', { max: 64, example: 'local' }),
      kind: withDefault(
        choice(['storage_array', 'object_storage'], 'Block and file, or object storage'),
        'storage_array',
      ),
      allocation_zone: optional(zone),
      engine: optional(
        text('Engine type key; required for a block and file array', { max: 128, example: 'engine_small' }),
      ),
      app_engine: optional(
        text("App engine key; the cloud's default when left out", { max: 128, example: 'app_small' }),
      ),
      enterprise_suite: optional(
        text('Refused: no part of an array is sold apart, each has all of them', { max: 64, example: 'YES' }),
      ),
      fibre_channel: feature('Fibre Channel'),
      flc_enabled: feature('file lifecycle'),
      iscsi_dual_target_mode_enabled: feature('a second iSCSI target'),
      flash_cache_capacity: optional(
        integer("GB of cache beyond the engine's own, in the cloud's steps", { max: 1_000_000 }),
      ),
      drives,
      custom_network_id: optional(recordNumber('Virtual network to join; your only one is joined by itself')),
      vlan_id: optional(integer('VLAN to join', { min: 1, max: 4094 })),
      create_raid_10_pools: withDefault(
        boolean('Whether the array makes pools of mirrored pairs of its drives when it first starts'),
        false,
      ),
      data_reduction_bundle: withDefault(boolean('Compression and deduplication; flash arrays only'), true),
      array_zone_group_storage_policy_type_id: optional({
        ...recordNumber("Object storage: the first storage policy's type"),
        aliases: ['vpsa_zone_group_storage_policy_type_id'],
      }),
      storage_profile: optional(text('Object storage: name of the first storage policy', { max: 64 })),
    },
    reply: envelope({}, { data: OrderedArray }),
    job: { until: ['created'] },
    errors: ['not_found', 'name_taken', 'out_of_stock', 'not_supported', 'wrong_state'],
  }),
  setEngine: endpoint('POST', '/arrays/{array_id}/engine', {
    summary: 'Move an array to another engine',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      engine: text('Engine type key', { max: 128, example: 'engine_medium' }),
      app_engine: text('App engine key', { max: 128, example: 'app_small' }),
    },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
  setCache: endpoint('POST', '/arrays/{array_id}/cache', {
    summary: "Change the cache beyond the engine's own",
    access: ownerOnly,
    params: {
      array_id: arrayId,
      flash_cache_capacity: integer("GB, in the cloud's steps", { max: 1_000_000, example: 200 }),
    },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
  addDrives: endpoint('POST', '/arrays/{array_id}/drives', {
    summary: 'Add drives to an array',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      drives,
      storage_policy: optional(text('Object storage: the policy that gets the drives; required there', { max: 128 })),
    },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'out_of_stock', 'in_use'],
  }),
  hibernate: endpoint('POST', '/arrays/{array_id}/hibernate', {
    summary: 'Stop an array and keep its data; only its drives and public address are billed on',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    job: { until: ['hibernated'] },
    errors: ['not_found', 'wrong_state'],
  }),
  restore: endpoint('POST', '/arrays/{array_id}/restore', {
    summary: 'Start a hibernated or failed array again',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    job: { until: ['created'] },
    errors: ['not_found', 'wrong_state'],
  }),
  addStoragePolicy: endpoint('POST', '/arrays/{array_id}/storage_policy', {
    summary: 'Object storage: add a storage policy on drives of its own',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      name: name('Name of the policy', { example: 'archive' }),
      storage_policy_type: recordNumber("One of the cloud's policy types"),
      drives,
    },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'name_taken', 'out_of_stock', 'not_supported'],
  }),
  addProxyController: endpoint('POST', '/arrays/{array_id}/proxy_vcs/add', {
    summary: 'Object storage: add a controller that serves requests',
    access: ownerOnly,
    params: { array_id: arrayId, allocation_zone_id: integer('Zone of the controller', { min: 0, example: 0 }) },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
  addPublicIp: endpoint('POST', '/arrays/{array_id}/public_ip', {
    summary: 'Give an array a public address',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'no_address'],
  }),
  removePublicIp: endpoint('DELETE', '/arrays/{array_id}/public_ip', {
    summary: "Take an array's public address away",
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state'],
  }),
  listCompatibleInterfaces: endpoint('GET', '/arrays/{array_id}/compatible_vnis', {
    summary: 'Virtual networks the array could join',
    access: ownerOnly,
    params: { array_id: arrayId, ...page },
    reply: success({ data: listOf(CompatibleInterface) }),
    errors: ['not_found'],
  }),
  addInterface: endpoint('POST', '/arrays/{array_id}/add_vni', {
    summary: 'Join a virtual network: the array gets an address in it',
    access: ownerOnly,
    params: { array_id: arrayId, virtual_network_id: recordNumber('The virtual network') },
    reply: interfaceChanged,
    errors: ['not_found', 'wrong_state', 'no_address', 'in_use'],
  }),
  removeInterface: endpoint('POST', '/arrays/{array_id}/remove_vni', {
    summary: 'Leave virtual networks',
    access: ownerOnly,
    params: {
      array_id: arrayId,
      vni_ids: list(recordNumber('An interface'), 'Interfaces to remove', { max: 64, example: [1] }),
    },
    reply: interfaceChanged,
    errors: ['not_found', 'wrong_state'],
  }),
  enableDataReduction: endpoint('POST', '/arrays/{array_id}/enable_data_reduction', {
    summary: 'Switch compression and deduplication on; flash arrays only',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
  disableDataReduction: endpoint('POST', '/arrays/{array_id}/disable_data_reduction_bundle', {
    summary: 'Switch compression and deduplication off; flash arrays only',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
  enableFileLifecycle: endpoint('POST', '/arrays/{array_id}/enable_file_lifecycle', {
    summary: 'Switch file lifecycle on for an array that was ordered without it; it stays on',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
  lockDown: endpoint('POST', '/arrays/{array_id}/lock_down', {
    summary: 'Lock an array down: it serves its data, can be read, and takes no changes from anyone',
    access: adminOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state'],
  }),
  release: endpoint('POST', '/arrays/{array_id}/release', {
    summary: 'Release an array that was locked down: it takes changes again',
    access: adminOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state'],
  }),
  getContents: endpoint('GET', '/arrays/{array_id}/contents', {
    summary: 'What an array holds that a deletion would destroy',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: success({ data: ArrayContents }),
    errors: ['not_found'],
  }),
  getIdentity: endpoint('GET', '/arrays/{array_id}/identity', {
    summary: 'Show who the caller is inside an array, through the portal: its user of the same name',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: success({ data: ArrayIdentity }),
    errors: ['not_found', 'wrong_state', 'array_unreachable'],
  }),
  delete: endpoint('DELETE', '/arrays/{array_id}', {
    summary: 'Delete an array: it stops, and can be undeleted until `undelete_until`; then all its data is removed',
    access: ownerOnly,
    params: { array_id: arrayId },
    reply: messageReply,
    job: { until: ['deleted'] },
    errors: ['not_found', 'wrong_state'],
  }),
  undelete: endpoint('POST', '/arrays/{array_id}/undelete', {
    summary: 'Bring a deleted array back with its data and addresses, and start it',
    access: ownerOnly,
    params: {
      array_id: deletedArrayId,
      name: optional(name('Another name for it, where its own has been taken since')),
    },
    reply: messageReply,
    job: { until: ['created'] },
    errors: ['not_found', 'wrong_state', 'name_taken', 'not_supported'],
  }),
  purge: endpoint('POST', '/arrays/{array_id}/purge', {
    frees: true,
    summary: 'Remove a deleted array at once and for good; its drives go back to the cloud',
    access: adminOnly,
    params: { array_id: deletedArrayId },
    reply: messageReply,
    errors: ['not_found', 'wrong_state', 'not_supported'],
  }),
} satisfies Group;
