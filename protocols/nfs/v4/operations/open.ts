import { ShareBits, type ShareReservation } from '../../../locks/index.ts';
import { Access, FileError, fileErrorCode, type Attributes, type Change } from '../../filesystem.ts';
import { moved, type Place } from '../../namespace/namespace.ts';
import { checkRange, createExclusive, mustBeWritable, refused } from '../../operations.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import { Attribute } from '../attributes/attribute.ts';
import { Bitmap } from '../attributes/bitmap.ts';
import { decodeAttributes, type EncodedAttributes, type WantedAttributes } from '../attributes/decode.ts';
import type { Compound } from '../compound.ts';
import { Op } from '../opcodes.ts';
import type { Client4 } from '../state/client.ts';
import type { StateOwner } from '../state/owner.ts';
import type { OpenState } from '../state/state.ts';
import { writeStateId } from '../state/state-id.ts';
import type { States } from '../state/states.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { applyAttributes } from './attributes.ts';
import { readOpen, type Creation, type OpenArguments } from './open-arguments.ts';
import { checkName4, mustBeDirectory, writeChangeInfo, type Operation } from './operation.ts';
import { inSequence } from './owner-sequence.ts';

const ResultFlag = { confirm: 2, posixLocks: 4 } as const;
const NO_DELEGATION = 0;
const FILE_MODE = 0o644;
const EXCLUSIVE_MODE = 0o600;

/** What is opened, and what became of the directory and of the wanted attributes. */
interface Opened {
  readonly place: Place;
  readonly attributes: Attributes;
  readonly directory: Change | undefined;
  readonly isNew: boolean;
  readonly set: Bitmap;
  /** To be cut to this size once it is open. */
  readonly sizeBytes?: number | undefined;
}

export const open: Operation = async (compound, args, reply) => {
  const wanted = readOpen(args, compound.minorVersion);
  const client = clientOf(compound, wanted.clientId);
  compound.server.clients.renew(client);
  const owner = ownerOf(compound, client, wanted);
  await inSequence(compound, owner, Op.open, wanted.sequenceId, reply, () => openFile(compound, owner, wanted, reply));
};

export function clientOf({ session, server }: Compound, clientId: bigint): Client4 {
  return session?.client ?? server.clients.confirmedById(clientId);
}

/** 4.0: an owner that was never confirmed and comes with another number begins anew. */
function ownerOf({ server }: Compound, client: Client4, { ownerName, sequenceId }: OpenArguments): StateOwner {
  const known = client.owner('open', ownerName);
  if (known && !known.isConfirmed && known.sequenceId !== undefined && known.sequenceId !== sequenceId) {
    for (const state of [...client.states.values()]) {
      if (state.kind === 'open' && state.owner === known) server.states.release(state);
    }
    client.dropOwner('open', known);
  }
  return client.ownerOrNew('open', ownerName);
}

async function openFile(compound: Compound, owner: StateOwner, wanted: OpenArguments, reply: XdrWriter): Promise<void> {
  const { server, minorVersion } = compound;
  const share = { access: wanted.access, deny: wanted.deny };
  checkGrace(compound, owner.client, wanted);
  const opened = await find(compound, wanted);
  mustBeOpenable(opened.attributes, minorVersion);
  if (!opened.isNew) await mustAllowOpen(opened, wanted);
  const state = await reserve(server.states, owner, opened, share);
  // A client that is known from before a restart has nothing to confirm.
  if (wanted.claim.kind === 'previous') owner.isConfirmed = true;
  compound.moveTo(opened.place);
  compound.currentState = state.id;
  writeStateId(reply, server.states.instance, state.id);
  const unchanged = { before: opened.attributes, after: opened.attributes };
  writeChangeInfo(reply, opened.directory ?? unchanged);
  reply.u32(ResultFlag.posixLocks | (owner.isConfirmed ? 0 : ResultFlag.confirm));
  opened.set.write(reply);
  reply.u32(NO_DELEGATION);
}

/** Opens it and cuts it to its size. If it cannot be cut, everything is as it was before. */
async function reserve(
  states: States,
  owner: StateOwner,
  { place, sizeBytes }: Opened,
  share: ShareReservation,
): Promise<OpenState> {
  const known = states.openOf(owner, place);
  states.mustGoTogether(place, share, known);
  const truncate = async () => {
    if (sizeBytes !== undefined) await place.filesystem.setAttributes(place.as, place.file, { sizeBytes });
  };
  if (known !== undefined) {
    await truncate();
    return states.open(owner, place, share);
  }
  const state = await states.open(owner, place, share);
  try {
    await truncate();
  } catch (error) {
    states.withdraw(state);
    throw error;
  }
  return state;
}

function checkGrace({ server: { grace }, minorVersion }: Compound, client: Client4, { claim }: OpenArguments): void {
  if (claim.kind !== 'previous') {
    const isEarly = minorVersion > 0 && !client.reclaimComplete;
    if (grace.isActive || isEarly) throw new Nfs4Error(Status4.grace);
    return;
  }
  if (!grace.isActive || client.reclaimComplete) throw new Nfs4Error(Status4.noGrace);
  if (!grace.mayReclaim({ kind: 'v4', name: client.recordName })) throw new Nfs4Error(Status4.reclaimBad);
}

async function find(compound: Compound, { claim, creation }: OpenArguments): Promise<Opened> {
  const { place } = compound;
  if (claim.kind === 'name') return findByName(compound, claim.name, creation);
  if (creation !== undefined) throw new Nfs4Error(Status4.invalid);
  const attributes = await place.filesystem.attributes(place.file);
  return { place, attributes, directory: undefined, isNew: false, set: new Bitmap() };
}

async function findByName(compound: Compound, name: Buffer, creation: Creation | undefined): Promise<Opened> {
  const directory = compound.place;
  await mustBeDirectory(directory);
  checkName4(directory, name);
  if (creation !== undefined) return create(compound, directory, name, creation);
  const { place, attributes } = await compound.server.namespace.lookup(directory, compound.call, name);
  return { place, attributes, directory: await unchanged(directory), isNew: false, set: new Bitmap() };
}

async function unchanged({ filesystem, file }: Place): Promise<Change> {
  const attributes = await filesystem.attributes(file);
  return { before: attributes, after: attributes };
}

async function decode(compound: Compound, encoded: EncodedAttributes | undefined): Promise<WantedAttributes> {
  if (encoded === undefined) return { bitmap: new Bitmap(), changes: {}, aces: undefined };
  return decodeAttributes(encoded, compound.minorVersion, compound.server.identities);
}

async function create(compound: Compound, directory: Place, name: Buffer, creation: Creation): Promise<Opened> {
  mustBeWritable(directory);
  const { filesystem, as, file } = directory;
  const wanted = await decode(compound, creation.attributes);
  const { changes, aces, bitmap } = wanted;
  if (creation.how === 'exclusive') {
    if (changes.accessed !== undefined || changes.modified !== undefined) throw new Nfs4Error(Status4.invalid);
    const attributes = { ...changes, mode: changes.mode ?? EXCLUSIVE_MODE };
    const made = await createExclusive(directory, name, creation.verifier, attributes);
    // The client sets the times, which hold its verifier until then.
    const set = Bitmap.of([...bitmap.numbers(), Attribute.accessed, Attribute.modified]);
    return { place: moved(directory, made.attributes), ...made, isNew: true, set };
  }
  if (changes.sizeBytes !== undefined) checkRange(directory, changes.sizeBytes, 0);
  try {
    const attributes = { ...changes, mode: changes.mode ?? FILE_MODE };
    const made = await filesystem.create(as, file, name, { type: 'file' }, attributes);
    const place = moved(directory, made.attributes);
    if (aces !== undefined) await applyAttributes(compound, place, { bitmap, changes: {}, aces });
    return { place, ...made, isNew: true, set: bitmap };
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST' || creation.how === 'guarded') throw error;
    return useExisting(compound, directory, name, changes.sizeBytes);
  }
}

/** Of the attributes of a file that is there already only its size is set. */
async function useExisting(
  compound: Compound,
  directory: Place,
  name: Buffer,
  sizeBytes: number | undefined,
): Promise<Opened> {
  const { place, attributes } = await compound.server.namespace.lookup(directory, compound.call, name);
  const set = Bitmap.of(sizeBytes === undefined ? [] : [Attribute.size]);
  return { place, attributes, directory: await unchanged(directory), isNew: false, set, sizeBytes };
}

function mustBeOpenable({ type }: Attributes, minorVersion: number): void {
  if (type === 'file') return;
  if (type === 'directory') throw new FileError('EISDIR');
  const isSymlink = type === 'symlink' || minorVersion === 0;
  throw new Nfs4Error(isSymlink ? Status4.symlink : Status4.wrongType);
}

async function mustAllowOpen({ place, attributes, sizeBytes }: Opened, wanted: OpenArguments): Promise<void> {
  const writes = (wanted.access & ShareBits.write) !== 0 || sizeBytes !== undefined;
  if (writes) mustBeWritable(place);
  // It was allowed when the file was opened before the restart, and the owner may have changed the mode since.
  if (wanted.claim.kind === 'previous' && attributes.uid === place.as.uid) return;
  const granted = await place.filesystem.access(place.as, place.file);
  const reads = (wanted.access & ShareBits.read) !== 0;
  if (writes && (granted & Access.write) === 0) throw refused(place, 'write');
  // A client that runs a program reads it.
  if (reads && (granted & (Access.read | Access.execute)) === 0) throw refused(place, 'read');
}
