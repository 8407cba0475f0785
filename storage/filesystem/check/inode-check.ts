import { ACL_NAMES } from '../files/acl.ts';
import { entryOf } from '../files/entries.ts';
import { decodeExtent } from '../contents/extents.ts';
import { decode, type Inode, typeNumber, usedBytesOf } from '../files/inode.ts';
import { hashName, isOfHash } from '../files/names.ts';
import { decodeParent } from '../files/parents.ts';
import { QUOTA_SCOPES, type QuotaScope } from '../files/quotas.ts';
import { KIND } from '../store/layout.ts';
import type { TreeItem } from '../store/tree.ts';
import type { Findings } from './findings.ts';
import type { Links } from './links.ts';
import type { BlockOwnership } from './block-ownership.ts';
import type { ParentsCheck } from './parents-check.ts';

export type QuotaSums = Record<QuotaScope, Map<number, { bytes: number; inodes: number }>>;

interface Parts {
  readonly findings: Findings;
  readonly links: Links;
  readonly parents: ParentsCheck;
  readonly ownership: BlockOwnership;
  readonly hashKey: Buffer;
}

/** Receives the items of one inode after the other, in tree order, and compares each inode with its items. */
export class InodeCheck {
  readonly #parts: Parts;
  readonly quotas: QuotaSums = { user: new Map(), group: new Map(), project: new Map() };
  #inode: Inode | undefined;
  #blocks = 0;
  #dataBytes = 0;
  #xattrBytes = 0;
  #entries = 0;
  #nextBlock = 0;
  #acls = new Set<string>();
  #archives = 0;
  readonly #truncations = new Set<number>();
  count = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  add(item: TreeItem): void {
    if (item.inode !== this.#inode?.inode) this.#begin(item);
    if (item.kind === KIND.data) this.#dataBytes += item.value.length;
    else if (item.kind === KIND.entry) this.#addEntry(item);
    else if (item.kind === KIND.extent) this.#addExtent(item);
    else if (item.kind === KIND.xattr) this.#addXattr(item);
    else if (item.kind === KIND.link) this.#parts.parents.addLink(item.inode, decodeParent(item.value));
    else if (item.kind === KIND.archive) this.#archives += 1;
    else if (item.kind !== KIND.attributes)
      this.#find(`inode ${item.inode} has an item of the unknown kind ${item.kind}`);
  }

  /** A file that is being truncated; these items precede all inodes. */
  addTruncation(inode: number): void {
    this.#truncations.add(inode);
  }

  /** To be called after the last item. */
  finish(): void {
    const inode = this.#inode;
    if (inode === undefined) return;
    const expect = (what: string, counted: number, found: number): void => {
      if (counted !== found) this.#find(`inode ${inode.inode} counts ${counted} ${what}; there are ${found}`);
    };
    expect('blocks', inode.blocks, this.#blocks);
    expect('names', inode.entries, this.#entries);
    expect('bytes', inode.isInline || inode.type === 'symlink' ? inode.size : 0, this.#dataBytes);
    expect('bytes of attributes', inode.xattrBytes, this.#xattrBytes);
    const knowsAcls = inode.hasAcl === this.#acls.has('access') && inode.hasDefaultAcl === this.#acls.has('default');
    // ACLs of a file that is being removed may be gone already.
    if (!knowsAcls && inode.links > 0) {
      this.#find(`inode ${inode.inode} does not know of its ACLs`);
    }
    expect('archives', inode.isArchived ? 1 : 0, this.#archives);
    if (inode.isArchived && this.#blocks > 0 && !this.#truncations.has(inode.inode)) {
      this.#find(`inode ${inode.inode} is archived, but still has ${this.#blocks} blocks`);
    }
    this.#charge(inode);
  }

  #begin(item: TreeItem): void {
    this.finish();
    this.#blocks = 0;
    this.#dataBytes = 0;
    this.#xattrBytes = 0;
    this.#entries = 0;
    this.#nextBlock = 0;
    this.#acls = new Set();
    this.#archives = 0;
    if (item.kind !== KIND.attributes) {
      this.#find(`inode ${item.inode} has items, but no attributes`);
      this.#inode = undefined;
      return;
    }
    const inode = decode(item.inode, item.value);
    this.#inode = inode;
    this.count += 1;
    if (inode.cookie !== 0) this.#parts.parents.addLink(inode.inode, inode);
    this.#parts.links.addInode({
      inode: inode.inode,
      isDirectory: inode.type === 'directory',
      type: typeNumber(inode.type),
      links: inode.links,
      parent: inode.parent,
    });
  }

  #addEntry({ inode, offset, value }: TreeItem): void {
    const entry = entryOf(offset, value);
    const first = hashName(entry.name, this.#parts.hashKey);
    if (offset < first || !isOfHash(offset, first)) this.#find(`directory ${inode} has a name in the wrong place`);
    this.#entries += 1;
    this.#parts.links.addEntry(inode, entry.inode, typeNumber(entry.type));
    this.#parts.parents.addName(inode, offset, entry.inode);
  }

  #addExtent({ inode, offset, value }: TreeItem): void {
    const extent = decodeExtent(offset, value);
    if (extent.block < this.#nextBlock || extent.count === 0) this.#find(`extents of inode ${inode} overlap`);
    this.#nextBlock = extent.block + extent.count;
    this.#blocks += extent.count;
    this.#parts.ownership.own(extent.start, extent.count, `inode ${inode}`);
  }

  #addXattr({ value }: TreeItem): void {
    this.#xattrBytes += value.length;
    const name = value.subarray(1, 1 + (value[0] ?? 0));
    if (name.equals(ACL_NAMES.access)) this.#acls.add('access');
    if (name.equals(ACL_NAMES.default)) this.#acls.add('default');
  }

  #charge(inode: Inode): void {
    const ids = { user: inode.uid, group: inode.gid, project: inode.project };
    for (const scope of QUOTA_SCOPES) {
      if (scope === 'project' && inode.project === 0) continue;
      const sum = this.quotas[scope].get(ids[scope]) ?? { bytes: 0, inodes: 0 };
      this.quotas[scope].set(ids[scope], { bytes: sum.bytes + usedBytesOf(inode), inodes: sum.inodes + 1 });
    }
  }

  #find(finding: string): void {
    this.#parts.findings.add(finding);
  }
}
