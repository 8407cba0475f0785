import type { Place } from '../records.ts';
import type { DriveSpace } from './drive-space.ts';
import { decodeHeader, HEADER_BYTES, type PieceHeader, RECORD_ALIGNMENT, recordBytes } from './record.ts';

const WINDOW_BYTES = 256 * 1024;

export interface WalkedRecord extends PieceHeader {
  readonly place: Place;
  /** Bytes it takes in the segment. */
  readonly bytes: number;
}

/**
 * The records of a segment in order, by their headers; data is not looked at. A damaged header is passed over up to the
 * next good one, and a record that was cut off at the end is none.
 */
export async function* walkSegment(space: DriveSpace, segment: number): AsyncGenerator<WalkedRecord> {
  const file = await space.openToRead(segment);
  try {
    const { size } = await file.stat();
    const window = Buffer.allocUnsafe(WINDOW_BYTES);
    let windowAt = 0;
    let windowBytes = 0;
    for (let offset = 0; offset + HEADER_BYTES <= size;) {
      if (offset < windowAt || offset + HEADER_BYTES > windowAt + windowBytes) {
        windowAt = offset;
        windowBytes = (await file.read(window, 0, WINDOW_BYTES, offset)).bytesRead;
        if (windowBytes < HEADER_BYTES) return;
      }
      const place = { drive: space.drive, segment, offset };
      const header = decodeHeader(window, offset - windowAt, place);
      const bytes = header ? recordBytes(header.pieceLength) : 0;
      if (header && offset + bytes <= size) yield { ...header, place, bytes };
      offset += header && offset + bytes <= size ? bytes : RECORD_ALIGNMENT;
    }
  } finally {
    await file.close();
  }
}
