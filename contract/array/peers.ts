import { endpoint, type Access, type Api, type Group } from '../endpoint.ts';
import { boolean, file, integer, name, optional, secret, text, withDefault } from '../params.ts';
import { bool, int, listOf, nullable, num, oneOf, record, str } from '../records.ts';
import { response } from '../reply.ts';
import { anyone } from './access.ts';
import { mirrorJobId, poolId, snapshotId } from './ids.ts';
import { allOptional } from './shared.ts';
import { creationOptions, shareOptions } from './volume-options.ts';

/** Another array, by a key it agreed on with this one; no user has this role, and no key of a user opens this door. */
const peerOnly: Access = { roles: ['peer'] };

const bytes = (what: string) => integer(what, { max: Number.MAX_SAFE_INTEGER, example: 2 ** 30 });

/** How an array tells another one who it is. */
const PeerArray = record('PeerArray', {
  uuid: str(),
  name: str(),
  display_name: str(),
  provider: str(),
  software_version: str(),
  is_encryption_active: bool(),
});

const PeerPool = record('PeerPool', {
  name: str(),
  display_name: str(),
  capacity: num('GB'),
  available_capacity: num('GB'),
});

/** A mirror as its destination has it. Snapshots are named as at the source. */
const PeerMirror = record('PeerMirror', {
  name: str(),
  state: oneOf('active', 'broken'),
  base: nullable(str('The last snapshot received whole')),
  round: nullable(str('The snapshot on its way')),
  position: int('Everything of it before this offset is written and on disk'),
  is_share: bool(),
});

const identity = {
  uuid: text('Its uuid', { max: 64, example: '6f1f5f6e-0000-4000-8000-000000000001' }),
  name: text('Its internal name', { max: 64, example: 'vsa-00000001' }),
  display_name: name('Its name', { example: 'accounts' }),
  provider: text('Its provider', { max: 128, example: 'Granary' }),
  software_version: text('Its version', { max: 64, example: '0.1.0' }),
};

/** What is shown of the source beside a destination. */
const source = {
  cg_name: text("The source's consistency group", { max: 128, example: 'cg-00000001' }),
  cg_display_name: name("The source's name", { example: 'reports' }),
  pool_display_name: name("The name of the source's pool", { example: 'fast' }),
  wwid: text('By which servers know the source', { max: 64, example: '6f1f5f6e000040008000000000000001' }),
  is_share: withDefault(boolean('The source is a file share, with these options'), false),
  ...allOptional({ ...shareOptions, ...creationOptions }),
};

const mirrored = response({ mirror: PeerMirror });

const peers = {
  pair: endpoint('POST', '/peers/pair', {
    summary: 'Make the calling array known here, in the name of an administrator, and agree on a secret with it',
    access: anyone,
    params: {
      user: name('An administrator here', { example: 'dana' }),
      password: secret('Their password', { max: 255, example: 'correct horse' }),
      public_key: text('X25519 key of the caller for this agreement, base64url', { max: 64, example: 'AAAA' }),
      ...identity,
    },
    reply: response({ array: PeerArray, public_key: str('X25519 key of this array for this agreement') }),
    errors: ['invalid_credentials', 'too_many_attempts', 'not_allowed', 'state_conflict', 'limit_reached'],
  }),
  hello: endpoint('POST', '/peers/hello', {
    summary: 'Tell who calls, and learn who answers',
    access: peerOnly,
    params: identity,
    reply: response({ array: PeerArray }),
  }),
  unpair: endpoint('DELETE', '/peers/self', {
    summary: 'Forget the caller; its mirrors must be broken',
    access: peerOnly,
    reply: response({}),
    errors: ['state_conflict'],
  }),
  listPools: endpoint('GET', '/peers/pools', {
    summary: 'List the pools a mirror may go to',
    access: peerOnly,
    reply: response({ pools: listOf(PeerPool) }),
  }),
  createMirror: endpoint('POST', '/peers/mirrors', {
    summary: 'Make the destination of a mirror; asked again, it answers with the one it made',
    access: peerOnly,
    params: {
      job: mirrorJobId,
      display_name: name('Name of the mirror job', { example: 'reports offsite' }),
      pool: poolId,
      volume_name: name('Name of the destination', { example: 'reports-mirror' }),
      size_bytes: bytes('Size of the source'),
      compress: boolean('Compress there'),
      dedupe: boolean('Store blocks that are alike once'),
      encrypted: boolean('Encrypt, because the source is'),
      ...source,
    },
    reply: mirrored,
    errors: ['pool_not_found', 'name_taken', 'capacity_refused', 'pool_protected', 'limit_reached', 'volume_locked'],
  }),
  getMirror: endpoint('POST', '/peers/mirrors/{job}', {
    summary: 'Show how far a destination is, and tell it whether its source is paused',
    access: peerOnly,
    params: { job: mirrorJobId, is_paused: boolean('The source is paused') },
    reply: mirrored,
    errors: ['job_not_found'],
  }),
  abandonMirror: endpoint('DELETE', '/peers/mirrors/{job}', {
    summary: 'Delete a destination that never received anything whole',
    access: peerOnly,
    params: { job: mirrorJobId },
    reply: response({}),
    errors: ['state_conflict'],
  }),
  beginRound: endpoint('POST', '/peers/mirrors/{job}/begin', {
    summary: 'Announce a snapshot; the answer says from where on to send it',
    access: peerOnly,
    params: {
      job: mirrorJobId,
      snapshot: snapshotId,
      base: optional({ ...snapshotId, description: 'The snapshot it is the difference to; all of it when left out' }),
      snapshot_name: name('Its display name', { example: 'hourly' }),
      taken_at: integer('Milliseconds since 1970', { max: Number.MAX_SAFE_INTEGER, example: 0 }),
      size_bytes: bytes('How much it shows'),
      ...source,
    },
    reply: mirrored,
    errors: ['job_not_found', 'capacity_refused', 'state_conflict'],
  }),
  writeRanges: endpoint('PUT', '/peers/mirrors/{job}/ranges', {
    summary: 'Send a part of a snapshot; it is on disk when this is answered',
    access: peerOnly,
    params: {
      job: mirrorJobId,
      snapshot: snapshotId,
      from: bytes('Where the part begins'),
      to: bytes('Where it ends: the position afterwards'),
      octets: file('The sealed part, as the body'),
    },
    reply: mirrored,
    errors: ['job_not_found', 'capacity_refused', 'state_conflict', 'volume_locked'],
  }),
  completeRound: endpoint('POST', '/peers/mirrors/{job}/complete', {
    summary: 'Say that all of a snapshot was sent; it becomes a snapshot of the destination',
    access: peerOnly,
    params: {
      job: mirrorJobId,
      snapshot: snapshotId,
      keep: optional(integer('How many such snapshots to keep there', { min: 1, example: 24 })),
    },
    reply: mirrored,
    errors: ['job_not_found', 'state_conflict', 'limit_reached'],
  }),
  breakMirror: endpoint('POST', '/peers/mirrors/{job}/break', {
    summary: 'End a mirror: its destination goes back to its last whole snapshot and is a volume like any other',
    access: peerOnly,
    params: { job: mirrorJobId, inherited: boolean("Give the destination the source's WWID") },
    reply: mirrored,
    errors: ['job_not_found', 'state_conflict'],
  }),
} satisfies Group;

/** What arrays say to each other. Declared like the rest, though no person calls it. */
export const peerApi = {
  name: 'peers',
  title: 'Granary arrays among themselves',
  description: 'How an array ships snapshots of a mirrored volume to another.',
  dialect: 'array',
  groups: { peers },
} as const satisfies Api;
