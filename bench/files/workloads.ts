import { Attribute } from '../../protocols/nfs/v4/attributes/attribute.ts';
import { ANONYMOUS, CURRENT, ops } from '../../protocols/nfs/testing/client4.ts';
import type { BenchClient } from './nfs-client.ts';

const MIB = 1024 * 1024;
const SMALL = Buffer.alloc(4096, 'granary');
const LARGE = Buffer.alloc(MIB, 'granary');
const FILE_BYTES = 256 * MIB;
/** As often as a client does that has memory enough: at the end of a file of this size. */
const COMMIT_EVERY = 64;
const LISTED_FILES = 1000;
const TOGETHER = 20;
const LISTING_BYTES = 64 * 1024;
const UNSTABLE = 0;
const STAT = [
  Attribute.type,
  Attribute.change,
  Attribute.size,
  Attribute.fileId,
  Attribute.mode,
  Attribute.links,
  Attribute.owner,
  Attribute.ownerGroup,
  Attribute.modified,
];

/** One thing a server is asked to do over and over: prepared once, then done with `depth` requests under way. */
export interface Workload {
  readonly name: string;
  readonly depth: number;
  readonly goal: number;
  prepare(client: BenchClient): Promise<(turn: number) => Promise<void>>;
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'create', depth: 16, goal: 0.7, prepare: prepareCreates },
  { name: 'stat', depth: 16, goal: 0.7, prepare: prepareStats },
  { name: 'new file of 4 KiB with COMMIT', depth: 16, goal: 0.7, prepare: prepareSmallWrites },
  { name: 'readdir with attributes, 1,000 names', depth: 4, goal: 0.7, prepare: prepareListings },
  { name: '1 MiB sequential write', depth: 4, goal: 0.7, prepare: prepareWrites },
  { name: '1 MiB sequential read', depth: 4, goal: 0.7, prepare: prepareReads },
];

function makeFile(name: string, owner = 'bench') {
  return ops.open({ name, owner, access: 3, create: 'guarded', set: { mode: 0o644 } });
}

async function prepareCreates(client: BenchClient) {
  const directory = await client.makeDirectory('creates');
  return async (turn: number): Promise<void> => {
    await client.compound(ops.put(directory), makeFile(`file-${turn}`), ops.get(), ops.close(CURRENT));
  };
}

async function prepareSmallWrites(client: BenchClient) {
  const directory = await client.makeDirectory('small');
  return async (turn: number): Promise<void> => {
    const write = [ops.write(CURRENT, 0, SMALL, UNSTABLE), ops.commit(), ops.close(CURRENT)];
    await client.compound(ops.put(directory), makeFile(`file-${turn}`), ...write);
  };
}

async function prepareStats(client: BenchClient) {
  const handles = await makeFiles(client, 'stats');
  return async (turn: number): Promise<void> => {
    await client.compound(ops.put(handles[turn % handles.length] as Buffer), ops.getattr(...STAT));
  };
}

async function prepareListings(client: BenchClient) {
  const name = 'listed';
  await makeFiles(client, name);
  const results = await client.compound(ops.putRoot(), ops.lookup('share'), ops.lookup(name), ops.get());
  const directory = results.at(-1) as Buffer;
  return async (): Promise<void> => {
    let count = 0;
    for (let cookie = 0n, isEnd = false; !isEnd;) {
      const [, page] = await client.compound(ops.put(directory), ops.readdir(cookie, LISTING_BYTES, ...STAT));
      const { entries, eof } = page as { entries: { cookie: bigint }[]; eof: boolean };
      count += entries.length;
      cookie = entries.at(-1)?.cookie ?? 0n;
      isEnd = eof;
    }
    if (count !== LISTED_FILES) throw new Error(`${count} names were listed`);
  };
}

async function prepareWrites(client: BenchClient) {
  let handle = Promise.resolve(await makeLarge(client, 'written'));
  return async (turn: number): Promise<void> => {
    const offset = (turn * MIB) % FILE_BYTES;
    if (offset === 0) handle = makeLarge(client, `written-${turn}`);
    const write = ops.write(ANONYMOUS, offset, LARGE, UNSTABLE);
    const commit = turn % COMMIT_EVERY === COMMIT_EVERY - 1 ? [ops.commit()] : [];
    await client.compound(ops.put(await handle), write, ...commit);
  };
}

async function prepareReads(client: BenchClient) {
  const handle = await makeLarge(client, 'read');
  for (let at = 0; at < FILE_BYTES; at += MIB) {
    await client.compound(ops.put(handle), ops.write(ANONYMOUS, at, LARGE, UNSTABLE));
  }
  await client.compound(ops.put(handle), ops.commit());
  return async (turn: number): Promise<void> => {
    const [, result] = await client.compound(ops.put(handle), ops.read(ANONYMOUS, (turn * MIB) % FILE_BYTES, MIB));
    const { data } = result as { data: Buffer };
    if (data.length !== MIB) throw new Error(`${data.length} bytes were read`);
  };
}

async function makeLarge(client: BenchClient, name: string): Promise<Buffer> {
  const share = [ops.putRoot(), ops.lookup('share')];
  const results = await client.compound(...share, makeFile(name), ops.get(), ops.close(CURRENT));
  return results.at(-2) as Buffer;
}

async function makeFiles(client: BenchClient, directoryName: string): Promise<Buffer[]> {
  const directory = await client.makeDirectory(directoryName);
  const handles: Buffer[] = [];
  const make = async (index: number): Promise<void> => {
    const operations = [makeFile(`file-${index}`), ops.get(), ops.close(CURRENT)];
    const results = await client.compound(ops.put(directory), ...operations);
    handles[index] = results.at(-2) as Buffer;
  };
  for (let index = 0; index < LISTED_FILES; index += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, (_, more) => make(index + more)));
  }
  return handles;
}
