import type { Transaction } from '@granary/kernel/sqlite';
import assert from 'node:assert/strict';
import { drivesOfPartition, policyOfPartition, writeQuorum } from '../../blobs/pieces.ts';
import { ObjectError } from '../../errors.ts';
import type { NewContent } from '../../operations.ts';
import type { BlobRef, Content, Place, StagedBlob } from '../../records.ts';
import type { IndexArguments } from '../index-operations.ts';
import { packPlaces, samePlace, unpackPlaces } from '../places.ts';
import { contentOf, policyOfRow, type BlobRow, type ContentRow, type VersionRow } from '../rows.ts';
import type { Change } from './change.ts';

interface ManifestRow {
  readonly start: number;
  readonly partition: number;
  readonly blob: Uint8Array;
  readonly size: number;
}

/** Makes new content part of the index: enters blobs that were staged, or takes a share in those of another version. */
export function acceptContent(change: Change, policy: number, content: NewContent, size: number): Content {
  if (content.kind === 'staged') return enter(change, policy, content.blobs, size);
  if (content.kind === 'copy') return shareVersion(change, policy, content.of, size);
  if (content.kind === 'bytes') throw new ObjectError('invalid-state', 'The bytes are not on drives yet.');
  if (size === 0) return { kind: 'empty' };
  throw new ObjectError('invalid-state', 'Content without bytes has a size of 0.');
}

function enter(change: Change, policy: number, blobs: readonly StagedBlob[], size: number): Content {
  let total = 0;
  for (const blob of blobs) {
    if (policyOfPartition(blob.partition) !== policy)
      throw new ObjectError('invalid-state', 'The bytes are of another policy.');
    total += blob.size;
    enterBlob(change, blob);
  }
  if (total !== size) throw new ObjectError('invalid-state', `${total} bytes were staged where ${size} are named.`);
  const [only] = blobs;
  if (!only) return { kind: 'empty' };
  if (blobs.length === 1) return { kind: 'blob', blob: { partition: only.partition, id: only.id, size } };
  const manifest = newManifest(change);
  let start = 0;
  for (const blob of blobs) {
    appendBlob(change, manifest, start, blob);
    start += blob.size;
  }
  return { kind: 'manifest', manifest };
}

function enterBlob(change: Change, blob: StagedBlob): void {
  const { db, tally } = change;
  const { partition, id, key, size, pieceBytes } = blob;
  const ring = change.ringOf(partition);
  const quorum = ring ? writeQuorum(ring.policy) : 1;
  const places = ring ? placesLeft(change, blob, quorum) : blob.places;
  assert.ok(places.filter((place) => place !== null).length >= quorum, 'a blob is entered when a quorum has it');
  db.run('INSERT INTO blobs VALUES (?, ?, ?, ?, 1, ?, ?)', partition, id, key, size, pieceBytes, packPlaces(places));
  for (const place of places) if (place) tally.live(place, pieceBytes);
  if (!isWhereWanted(places, ring && drivesOfPartition(ring, partition))) tally.mark(partition);
}

/** Drives may have left while a body was staged on them: what no index named was not moved from there. */
function placesLeft(change: Change, { places }: StagedBlob, quorum: number): readonly (Place | null)[] {
  if (places.every((place) => place === null || change.isIn(place.drive))) return places;
  const left = places.map((place) => (place && change.isIn(place.drive) ? place : null));
  if (left.filter((place) => place !== null).length >= quorum) return left;
  throw new ObjectError('no-quorum', 'The drives that the bytes were put on have left meanwhile; put them once more.');
}

function isWhereWanted(places: readonly (Place | null)[], wanted: ArrayLike<number> | undefined): boolean {
  if (!wanted) return !places.includes(null);
  return places.length === wanted.length && places.every((place, slot) => (place?.drive ?? 0) === wanted[slot]);
}

function shareVersion(
  change: Change,
  policy: number,
  of: { readonly bucket: number; readonly key: string; readonly sequence: number },
  size: number,
): Content {
  const source = storedVersion(change, of);
  if (!source) throw new ObjectError('no-such-version', 'What was to be copied is gone.');
  if (source.size !== size) throw new ObjectError('invalid-state', `The source has ${source.size} bytes, not ${size}.`);
  const from = change.db.get<{ policy: number }>('SELECT policy FROM buckets WHERE id = ?', of.bucket);
  if (size > 0 && (!from || policyOfRow(from, source) !== policy)) {
    // The caller saw it under this policy: a lifecycle rule has moved it since.
    throw new ObjectError('moved', 'The source is under another policy; its bytes have to be copied.');
  }
  return share(change, source, size);
}

type SourceRow = ContentRow & Pick<VersionRow, 'size' | 'attributes'>;

function storedVersion(
  { db }: Change,
  { bucket, key, sequence }: { readonly bucket: number; readonly key: string; readonly sequence: number },
): SourceRow | undefined {
  const find = (table: string, more: string): SourceRow | undefined =>
    db.get(
      `SELECT size, attributes, partition, blob, manifest FROM ${table} WHERE bucket = ? AND key = ? AND sequence = ? ${more}`,
      bucket,
      key,
      sequence,
    );
  return find('objects', '') ?? find('versions', 'AND marker = 0');
}

function share({ db }: Change, row: ContentRow, size: number): Content {
  const content = contentOf(row, size);
  if (content.kind === 'manifest') {
    const { changes } = db.run('UPDATE manifests SET refs = refs + 1 WHERE id = ?', content.manifest);
    assert.ok(changes === 1, 'a manifest that is shared is in the index');
  }
  if (content.kind === 'blob') shareBlob(db, content.blob.partition, content.blob.id);
  return content;
}

function shareBlob(db: Transaction, partition: number, id: Uint8Array): void {
  const { changes } = db.run('UPDATE blobs SET refs = refs + 1 WHERE partition = ? AND id = ?', partition, id);
  assert.ok(changes === 1, 'a blob that is shared is in the index');
}

/** Releases content. Blobs without another reference are dead from now on; those of a manifest, step by step. */
export function release(change: Change, content: ContentRow): void {
  const { db } = change;
  if (content.manifest !== null) {
    const { changes } = db.run('UPDATE manifests SET refs = refs - 1 WHERE id = ?', content.manifest);
    assert.ok(changes === 1, 'a manifest that is released is in the index');
    change.leaveGarbage();
  } else if (content.partition !== null && content.blob !== null) {
    releaseBlob(change, content.partition, content.blob);
  }
}

function releaseBlob({ db, tally }: Change, partition: number, id: Uint8Array): void {
  const sql = 'UPDATE blobs SET refs = refs - 1 WHERE partition = ? AND id = ? RETURNING refs, piece_bytes, places';
  const row = db.get<Pick<BlobRow, 'refs' | 'piece_bytes' | 'places'>>(sql, partition, id);
  assert.ok(row, `a blob of partition ${partition} that is in use is in the index`);
  assert.ok(row.refs >= 0, 'a blob is released as often as it is shared');
  if (row.refs > 0) return;
  db.run('DELETE FROM blobs WHERE partition = ? AND id = ?', partition, id);
  for (const place of unpackPlaces(row.places)) if (place) tally.live(place, -row.piece_bytes);
}

/** Content of parts one after the other, as one. Takes over what the parts had; their rows must go. */
export function joinContents(change: Change, parts: readonly (ContentRow & { readonly size: number })[]): Content {
  const full = parts.filter((part) => part.size > 0);
  const [only] = full;
  if (!only) return { kind: 'empty' };
  if (full.length === 1) return contentOf(only, only.size);
  const manifest = newManifest(change);
  let start = 0;
  for (const part of full) {
    if (part.manifest !== null) appendManifest(change, manifest, start, part.manifest);
    else if (part.partition !== null && part.blob !== null) {
      appendBlob(change, manifest, start, { partition: part.partition, id: part.blob, size: part.size });
    }
    start += part.size;
  }
  return { kind: 'manifest', manifest };
}

function newManifest({ db }: Change): number {
  const row = db.get<{ id: number }>('INSERT INTO manifests (refs) VALUES (1) RETURNING id');
  if (!row) throw new Error('A manifest could not be made');
  return row.id;
}

function appendBlob({ db }: Change, manifest: number, start: number, blob: BlobRef): void {
  db.run('INSERT INTO manifest_blobs VALUES (?, ?, ?, ?, ?)', manifest, start, blob.partition, blob.id, blob.size);
}

function appendManifest(change: Change, manifest: number, start: number, other: number): void {
  const { db } = change;
  const refs = db.get<{ refs: number }>('SELECT refs FROM manifests WHERE id = ?', other)?.refs;
  if (refs === 1) {
    db.run('UPDATE manifest_blobs SET manifest = ?, start = start + ? WHERE manifest = ?', manifest, start, other);
    db.run('DELETE FROM manifests WHERE id = ?', other);
    return;
  }
  for (const row of db.all<ManifestRow>('SELECT * FROM manifest_blobs WHERE manifest = ?', other)) {
    appendBlob(change, manifest, start + row.start, { partition: row.partition, id: row.blob, size: row.size });
    shareBlob(db, row.partition, row.blob);
  }
  db.run('UPDATE manifests SET refs = refs - 1 WHERE id = ?', other);
}

/** Frees the blobs of unreferenced manifests, at most `limit`; returns how many. */
export function collectManifests(change: Change, limit: number): number {
  const { db } = change;
  const given = db.get<{ id: number }>('SELECT id FROM manifests WHERE refs = 0 LIMIT 1');
  if (!given) return 0;
  const sql = 'SELECT * FROM manifest_blobs WHERE manifest = ? ORDER BY start LIMIT ?';
  const rows = db.all<ManifestRow>(sql, given.id, limit);
  for (const row of rows) {
    releaseBlob(change, row.partition, row.blob);
    db.run('DELETE FROM manifest_blobs WHERE manifest = ? AND start = ?', given.id, row.start);
  }
  if (rows.length < limit) db.run('DELETE FROM manifests WHERE id = ?', given.id);
  return Math.max(1, rows.length);
}

/** False when the piece is not there any more, or where it went to has left meanwhile. */
export function relocate({ db, tally, isIn }: Change, args: IndexArguments<'relocate'>): boolean {
  const { blob, slot, from, to, pieceBytes } = args;
  if (!isIn(to.drive)) return false;
  const row = db.get<BlobRow>('SELECT * FROM blobs WHERE partition = ? AND id = ?', blob.partition, blob.id);
  if (!row) return false;
  const places = unpackPlaces(row.places);
  if (slot >= places.length || !samePlace(places[slot] ?? null, from)) return false;
  if (pieceBytes !== row.piece_bytes) {
    throw new ObjectError('invalid-state', `A piece of this blob takes ${row.piece_bytes} bytes, not ${pieceBytes}.`);
  }
  if (from) tally.live(from, -pieceBytes);
  tally.live(to, pieceBytes);
  const packed = packPlaces(places.with(slot, to));
  db.run('UPDATE blobs SET places = ? WHERE partition = ? AND id = ?', packed, blob.partition, blob.id);
  return true;
}
