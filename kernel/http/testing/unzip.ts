import { inflateRawSync } from 'node:zlib';

/** The files of a zip archive, by name: enough of the format to read what we write. For tests. */
export function unzip(bytes: Uint8Array): Map<string, Buffer> {
  const zip = Buffer.from(bytes);
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const files = new Map<string, Buffer>();
  let entry = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((at) => zip.readUInt16LE(entry + at)) as [
      number,
      number,
      number,
    ];
    const name = zip.toString('utf8', entry + 46, entry + 46 + nameLength);
    files.set(name, fileAt(zip, zip.readUInt32LE(entry + 42), zip.readUInt32LE(entry + 20)));
    entry += 46 + nameLength + extraLength + commentLength;
  }
  return files;
}

function fileAt(zip: Buffer, header: number, size: number): Buffer {
  const data = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  return inflateRawSync(zip.subarray(data, data + size));
}
