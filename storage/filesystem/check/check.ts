import type { BlockDevice } from '../../block-device.ts';
import { FsError } from '../errors.ts';
import { listQuotas, QUOTA_SCOPES } from '../files/quotas.ts';
import { Key } from '../store/key.ts';
import { JOURNAL_START, KIND, NODE_BLOCKS, OWN_INODE } from '../store/layout.ts';
import { FilesystemStore } from '../store/filesystem-store.ts';
import type { Leaf, TreeItem } from '../store/tree.ts';
import { Findings } from './findings.ts';
import { InodeCheck, type QuotaSums } from './inode-check.ts';
import { Links } from './links.ts';
import { BlockOwnership } from './block-ownership.ts';
import { ParentsCheck } from './parents-check.ts';

export interface FilesystemReport {
  /** Violated invariants, in words; empty if there are none. */
  readonly findings: readonly string[];
  readonly inodes: number;
  readonly blocks: number;
  readonly nodes: number;
}

const QUOTAS_PER_STEP = 1000;

/**
 * Checks a filesystem that is not mounted, or a snapshot: each block has one owner, each link is counted and known to
 * its inode, each directory is reachable, and each quota is the sum of its files. It reads everything but the contents
 * of files, and writes nothing.
 */
export async function checkFilesystem(device: BlockDevice): Promise<FilesystemReport> {
  try {
    return await checkStore(await FilesystemStore.open(device, { isInspection: true }));
  } catch (error) {
    if (!(error instanceof FsError) || error.code !== 'EIO') throw error;
    // Without the whole tree nothing else can be verified.
    return { findings: [error.message], inodes: 0, blocks: 0, nodes: 0 };
  }
}

async function checkStore(store: FilesystemStore): Promise<FilesystemReport> {
  const findings = new Findings();
  const links = new Links(findings);
  const ownership = new BlockOwnership(findings, store.space.totalBlocks);
  const parents = new ParentsCheck(findings);
  const inodes = new InodeCheck({ findings, links, parents, ownership, hashKey: store.hashKey });
  ownership.own(0, JOURNAL_START + store.journalBlocks, 'the filesystem itself');
  const nodes = new Set<number>();
  for (let key: Key | undefined = new Key(); key !== undefined;) {
    const from: Key = key;
    const leaf: Leaf = await store.read(() => store.tree.leafAt(from));
    for (const { address } of leaf.places) {
      if (nodes.has(address)) continue;
      nodes.add(address);
      ownership.own(address, NODE_BLOCKS, `the node at ${address}`);
    }
    for (const item of leaf.items) addItem(item, inodes, links);
    key = leaf.next;
  }
  inodes.finish();
  links.check();
  parents.check();
  await checkQuotas(store, inodes.quotas, findings);
  await ownership.compare(store);
  if (store.inodes !== inodes.count) {
    findings.add(`${store.inodes} inodes are on record; there are ${inodes.count}`);
  }
  return { findings: findings.list, inodes: inodes.count, blocks: ownership.ownedBlocks, nodes: nodes.size };
}

function addItem(item: TreeItem, inodes: InodeCheck, links: Links): void {
  if (item.inode !== OWN_INODE) inodes.add(item);
  else if (item.kind === KIND.orphan) links.addOrphan(item.offset);
  else if (item.kind === KIND.truncation) inodes.addTruncation(item.offset);
}

async function checkQuotas(store: FilesystemStore, sums: QuotaSums, findings: Findings): Promise<void> {
  for (const scope of QUOTA_SCOPES) {
    for (let from = 0; ;) {
      const start = from;
      const quotas = await store.read(() => listQuotas(store.tree, scope, start, QUOTAS_PER_STEP));
      for (const { id, usedBytes, usedInodes } of quotas) {
        const { bytes, inodes } = sums[scope].get(id) ?? { bytes: 0, inodes: 0 };
        sums[scope].delete(id);
        if (usedBytes === bytes && usedInodes === inodes) continue;
        findings.add(`${scope} ${id} has ${bytes} bytes in ${inodes} files; ${usedBytes} in ${usedInodes} are counted`);
      }
      const last = quotas.at(-1);
      if (last === undefined) break;
      from = last.id + 1;
    }
    for (const id of sums[scope].keys()) findings.add(`what ${scope} ${id} uses is not counted`);
  }
}
