import type { Db } from '@granary/kernel';
import type { ServedShare, ShareClient, ShownSnapshot } from '../engine/shares.ts';
import { anonymousIds, type ShareOptions } from './options.ts';
import type { NamedSnapshot, NfsClient, ShareReaders } from './readers.ts';
import { findShare } from './repository.ts';

const NAME_BYTES_MAX = 255;

/** A share as the engine is to serve it; undefined if it is not to be served at all. */
export function servedShare(db: Db, volume: string, readers: ShareReaders): ServedShare | undefined {
  const share = readers.isServable(db, volume) ? findShare(db, volume) : undefined;
  if (!share) return undefined;
  const { options, exportNames } = share;
  const { uid, gid } = anonymousIds(options);
  return {
    volume,
    exportNames,
    clients: options.isSmbOnly ? [] : readers.listNfsClients(db, volume).map(clientOf),
    sync: options.syncsWrites,
    updatesAccessTimes: options.updatesAccessTimes,
    squash: squashOf(options),
    anonymousUid: uid,
    anonymousGid: gid,
    readAheadBytes: options.readAheadKb * 1024,
    isAudited: options.isAudited,
    snapshots: snapshotDirectories(readers.listSnapshots(db, volume)),
  };
}

function squashOf({ squashesRoot, squashesAll }: ShareOptions): ServedShare['squash'] {
  if (squashesAll) return 'all';
  return squashesRoot ? 'root' : 'none';
}

function clientOf({ server, address, isReadOnly }: NfsClient): ShareClient {
  return { server, address, readOnly: isReadOnly };
}

/**
 * Each snapshot under the name people gave it, as far as that can be the name of a directory; where it cannot, or another
 * has it already, the snapshot's identifier is added.
 */
function snapshotDirectories(snapshots: readonly NamedSnapshot[]): ShownSnapshot[] {
  const taken = new Set<string>();
  return snapshots.map(({ name: id, displayName }) => {
    const wanted = displayName.replaceAll('/', '-');
    const isFit = wanted !== '.' && wanted !== '..' && Buffer.byteLength(wanted) <= NAME_BYTES_MAX;
    const name = isFit && !taken.has(wanted) ? wanted : `${cut(wanted, NAME_BYTES_MAX - id.length - 1)} ${id}`;
    taken.add(name);
    return { id, name };
  });
}

function cut(text: string, bytesMax: number): string {
  let kept = text;
  while (Buffer.byteLength(kept) > bytesMax) kept = kept.slice(0, -1);
  return kept.toWellFormed();
}
