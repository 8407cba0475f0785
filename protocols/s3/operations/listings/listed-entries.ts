import type { Checksum, ListedObject, ObjectStore } from '@granary/storage/object-store';
import { field } from '../../xml.ts';
import { hourOf, SIXTIETHS } from '../dates.ts';
import type { KeyText } from './list-parameters.ts';
import { storageClassOf } from '../storage-class.ts';
import { shown } from '../objects/object-content.ts';
import type { Owners } from '../replies.ts';

const HOUR_SECONDS = 3600;
const BEGIN = '<Contents><Key>';
/** Minutes and seconds of an hour, and what stands between them and the ETag. */
const TIMES = SIXTIETHS.map((time) => `${time}.000Z</LastModified><ETag>&quot;`);
const UNCHECKED = '&quot;</ETag><Size>';

/** Entries in one piece: small enough for the engine to have them at hand while they are put together. */
const PIECE_ENTRIES = 64;

/**
 * A thousand entries are most of what a listing costs: so what stands between keys and ETags is made anew only where it
 * differs from the entry before, and each ends with the beginning of the next.
 */
export function listedEntries(
  objects: readonly ListedObject[],
  text: KeyText,
  owners: Owners,
  store: Pick<ObjectStore, 'policies'>,
): string[] {
  if (objects.length === 0) return [];
  const keys = text.all(objects.map(({ key }) => key));
  const endOf = (attributes: Pick<ListedObject['attributes'], 'writer' | 'policy'>) =>
    `</Size>${owners.get(attributes.writer) ?? ''}${field('StorageClass', storageClassOf(store, attributes))}</Contents>${BEGIN}`;
  const own = endOf({});
  let last = { hour: Number.NaN, day: '', kind: '', size: Number.NaN, end: own, tail: '' };
  const pieces: string[] = [];
  let piece = BEGIN;
  for (const [index, object] of objects.entries()) {
    const second = Math.floor(object.modifiedAt / 1000);
    const within = second % HOUR_SECONDS;
    const hour = second - within;
    if (hour !== last.hour) last = { ...last, hour, day: `</Key><LastModified>${hourOf(hour)}` };
    const { etag, size } = shown(object);
    const { checksum, writer, policy } = object.attributes;
    const end = writer === undefined && policy === undefined ? own : endOf(object.attributes);
    const kind = checksum ? checkedBy(checksum) : UNCHECKED;
    if (size !== last.size || kind !== last.kind || end !== last.end) {
      last = { ...last, kind, size, end, tail: kind + String(size) + end };
    }
    if (index % PIECE_ENTRIES === 0) {
      pieces.push(piece);
      piece = '';
    }
    piece += (keys[index] ?? '') + last.day + (TIMES[within] ?? '') + etag + last.tail;
  }
  pieces.push(piece.slice(0, -BEGIN.length));
  return pieces;
}

/** What stands between the ETag and the size of an object with a checksum; there are few kinds. */
const kinds = new Map<string, string>();

function checkedBy({ algorithm, type }: Omit<Checksum, 'value'>): string {
  const name = algorithm + type;
  let kind = kinds.get(name);
  if (kind === undefined) {
    kind = `&quot;</ETag>${field('ChecksumAlgorithm', algorithm)}${field('ChecksumType', type)}<Size>`;
    kinds.set(name, kind);
  }
  return kind;
}
