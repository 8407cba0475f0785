import { gzipSync } from 'node:zlib';

const MAGIC = '070701';
const REGULAR_FILE = 0o100644;
const ALIGNMENT = 4;
const END = 'TRAILER!!!';

/** One file as an archive that Linux unpacks into its first filesystem, after those before it. */
export function initialFile(name: string, content: string): Buffer {
  return gzipSync(Buffer.concat([entry(name, REGULAR_FILE, Buffer.from(content)), entry(END, 0, Buffer.alloc(0))]));
}

/** The form is cpio's: thirteen numbers of eight hexadecimal digits, the name and the content, each to a multiple of four. */
function entry(name: string, mode: number, content: Buffer): Buffer {
  const inode = 1;
  const links = 1;
  const nameBytes = Buffer.from(`${name}\0`);
  const numbers = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, nameBytes.length, 0];
  const head = Buffer.from(MAGIC + numbers.map((number) => number.toString(16).padStart(8, '0')).join(''));
  return Buffer.concat([aligned(Buffer.concat([head, nameBytes])), aligned(content)]);
}

function aligned(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
}
