import { BlockList, isIP } from 'node:net';
import type { Awaitable, Filesystem } from '../filesystem.ts';

/** What a client may do with an export. */
export interface ExportAccess {
  readonly readOnly: boolean;
  /** Whose requests are done as `anonymousUid` and `anonymousGid`: of no user, of root or of all (NFS: squash). */
  readonly squash: 'none' | 'root' | 'all';
  readonly anonymousUid: number;
  readonly anonymousGid: number;
  /** Every write is durable when it is answered, also one that leaves that to a later COMMIT. */
  readonly sync: boolean;
}

export const DEFAULT_ACCESS: ExportAccess = {
  readOnly: false,
  squash: 'root',
  anonymousUid: 65534,
  anonymousGid: 65534,
  sync: true,
};

/** Snapshots that are shown, to read, in the directory `.snapshot` of an export's root. */
export interface SnapshotSource {
  list(): Awaitable<readonly SnapshotListing[]>;
  /** Undefined if there is no such snapshot any more. */
  open(filesystemId: bigint): Awaitable<Filesystem | undefined>;
}

export interface SnapshotListing {
  readonly name: string;
  /** The id its filesystem has when it is opened. */
  readonly filesystemId: bigint;
}

/** One filesystem under one or more paths. */
export interface NfsExport {
  /** Like `/archive` or `/projects/archive`. */
  readonly paths: readonly string[];
  readonly filesystem: Filesystem;
  readonly snapshots?: SnapshotSource;
  /** Undefined: the export is not for this client. Asked for each request, so changes hold at once. */
  authorise(address: string): ExportAccess | undefined;
}

export interface AccessRule extends Partial<ExportAccess> {
  /** An address, or a network like `10.1.0.0/16`. */
  readonly client: string;
}

/** The first rule that the client's address fits decides. */
export function accessByRules(rules: readonly AccessRule[]): NfsExport['authorise'] {
  const prepared = rules.map((rule) => ({ network: networkOf(rule.client), access: { ...DEFAULT_ACCESS, ...rule } }));
  return (address) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    return prepared.find(({ network }) => network.check(address, family))?.access;
  };
}

function networkOf(client: string): BlockList {
  const [address = '', prefix] = client.split('/');
  const family = isIP(address);
  const bits = prefix === undefined ? undefined : Number(prefix);
  const isPrefix = bits === undefined || (/^\d+$/.test(prefix ?? '') && bits <= (family === 6 ? 128 : 32));
  if (family === 0 || !isPrefix) throw new RangeError(`${client} is no address and no network like 10.1.0.0/16`);
  const network = new BlockList();
  const kind = family === 6 ? 'ipv6' : 'ipv4';
  if (bits === undefined) network.addAddress(address, kind);
  else network.addSubnet(address, bits, kind);
  return network;
}

const PATH = /^(\/[^/\0]{1,255}){1,32}$/;

export function checkPath(path: string): void {
  const names = path.split('/').slice(1);
  if (!PATH.test(path) || names.includes('.') || names.includes('..')) {
    throw new RangeError(`${JSON.stringify(path)} is no path to export; give one like /archive`);
  }
}
