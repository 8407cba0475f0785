import type { NfsEvent } from '../events.ts';
import { FileError, type Acl, type AclEntry, type Attributes } from '../filesystem.ts';
import { mustBeWritable } from '../operations.ts';
import { NoSuchProcedure, type Call, type Replay, type RpcProgram } from '../rpc/program.ts';
import { XdrError, type XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { Request3, type Version3 } from './procedure.ts';
import { Status3, status3Of } from './status.ts';

const Procedure = { get: 1, set: 2 } as const;
const Mask = { access: 1, accessCount: 2, default: 4, defaultCount: 8, all: 15 } as const;
const ENTRIES_MAX = 1024;
const DEFAULT_FLAG = 0x1000;
const TAGS = { owner: 1, user: 2, 'owning-group': 4, group: 8, mask: 16, other: 32 } as const;
const TAG_NAMES = new Map(Object.entries(TAGS).map(([name, tag]) => [tag as number, name as AclEntry['tag']]));
const PERMISSIONS_MAX = 7;

/** POSIX ACLs beside version 3, as the kernels of Linux and Solaris ask for them. */
export class AclProgram implements RpcProgram {
  readonly program = 100227;
  readonly versions = [3];
  readonly #server: Version3;
  readonly #report: (event: NfsEvent) => void;

  constructor(server: Version3, report: (event: NfsEvent) => void) {
    this.#server = server;
    this.#report = report;
  }

  /** To set an ACL twice is to set it once. */
  replay(): Replay {
    return 'never';
  }

  async call(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const { procedure } = call;
    if (procedure !== Procedure.get && procedure !== Procedure.set) throw new NoSuchProcedure();
    const request = new Request3(this.#server, call, args, reply);
    try {
      await (procedure === Procedure.get ? getAcl(request) : setAcl(request));
    } catch (error) {
      if (error instanceof XdrError) throw error;
      const status = status3Of(error);
      if (status === undefined) this.#report({ type: 'internal-error', address: call.address, error });
      await request.fail(status ?? Status3.serverFault, ['attributes']);
    }
  }
}

async function getAcl(request: Request3): Promise<void> {
  const [handle, mask] = [request.handleArgument(), request.args.u32()];
  const place = await request.place(handle);
  if ((mask & ~Mask.all) !== 0) throw new FileError('EINVAL');
  const attributes = await place.filesystem.attributes(place.file);
  const acl = await place.filesystem.acl(place.file);
  request.ok();
  request.attributes(place, attributes);
  request.reply.u32(mask);
  const access = acl.access.length > 0 ? acl.access : entriesOfMode(attributes.mode);
  writeEntries(request.reply, attributes, access, (mask & Mask.access) !== 0, 0);
  writeEntries(request.reply, attributes, acl.default, (mask & Mask.default) !== 0, DEFAULT_FLAG);
}

function entriesOfMode(mode: number): AclEntry[] {
  return [
    { tag: 'owner', permissions: (mode >> 6) & 7 },
    { tag: 'owning-group', permissions: (mode >> 3) & 7 },
    { tag: 'other', permissions: mode & 7 },
  ];
}

/** Clients expect a mask in every list that is not empty. */
function withMask(entries: readonly AclEntry[]): readonly AclEntry[] {
  if (entries.length === 0 || entries.some(({ tag }) => tag === 'mask')) return entries;
  const permissions = entries.find(({ tag }) => tag === 'owning-group')?.permissions ?? 0;
  const others = entries.filter(({ tag }) => tag !== 'other');
  return [...others, { tag: 'mask', permissions }, ...entries.filter(({ tag }) => tag === 'other')];
}

function writeEntries(
  reply: XdrWriter,
  { uid, gid }: Attributes,
  entries: readonly AclEntry[],
  isWanted: boolean,
  flag: number,
): void {
  const all = withMask(entries);
  reply.u32(all.length);
  reply.array(isWanted ? all : [], ({ tag, id = 0, permissions }) => {
    const shown = tag === 'owner' ? uid : tag === 'owning-group' ? gid : id;
    reply
      .u32(TAGS[tag] | flag)
      .u32(shown)
      .u32(permissions);
  });
}

async function setAcl(request: Request3): Promise<void> {
  const { args } = request;
  const [handle, mask] = [request.handleArgument(), args.u32()];
  const access = readEntries(args);
  const inherited = readEntries(args);
  const place = await request.place(handle);
  mustBeWritable(place);
  const { type } = await place.filesystem.attributes(place.file);
  if (inherited.length > 0 && type !== 'directory') throw new FileError('EACCES');
  const acl: { -readonly [Name in keyof Acl]?: Acl[Name] } = {};
  if ((mask & Mask.access) !== 0) acl.access = minimal(access);
  if ((mask & Mask.default) !== 0) acl.default = inherited;
  const { after } = await place.filesystem.setAcl(place.as, place.file, acl);
  request.ok();
  request.attributes(place, after);
}

function readEntries(args: XdrReader): AclEntry[] {
  args.u32();
  return args.array(ENTRIES_MAX, () => {
    const [number, id, permissions] = [args.u32(), args.u32(), args.u32()];
    const tag = TAG_NAMES.get(number & ~DEFAULT_FLAG);
    if (tag === undefined || permissions > PERMISSIONS_MAX) throw new XdrError('no such entry of an ACL');
    return tag === 'user' || tag === 'group' ? { tag, id, permissions } : { tag, permissions };
  });
}

/** The mask that was put in for the client's sake says nothing where no user or group is named. */
function minimal(entries: readonly AclEntry[]): readonly AclEntry[] {
  const isNamed = entries.some(({ tag }) => tag === 'user' || tag === 'group');
  return isNamed ? entries : entries.filter(({ tag }) => tag !== 'mask');
}
