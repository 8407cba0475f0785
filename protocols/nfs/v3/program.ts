import type { NfsEvent } from '../events.ts';
import { NoSuchProcedure, type Call } from '../rpc/program.ts';
import { XdrError, type XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { access, getAttributes, setAttributes } from './attribute-procedures.ts';
import { create, makeDirectory, makeNode, makeSymlink } from './create-procedures.ts';
import { commit, read, write } from './data-procedures.ts';
import { readDirectory, readDirectoryPlus } from './directory-procedures.ts';
import { filesystemInfo, filesystemSpace, pathLimits } from './info-procedures.ts';
import { link, lookup, readSymlink, remove, removeDirectory, rename } from './name-procedures.ts';
import { Request3, type Procedure3, type Version3 } from './procedure.ts';
import { Status3, status3Of } from './status.ts';

/** By procedure number; 0 is answered by all programs alike. */
const PROCEDURES: readonly (Procedure3 | undefined)[] = [
  undefined,
  getAttributes,
  setAttributes,
  lookup,
  access,
  readSymlink,
  read,
  write,
  create,
  makeDirectory,
  makeSymlink,
  makeNode,
  remove,
  removeDirectory,
  rename,
  link,
  readDirectory,
  readDirectoryPlus,
  filesystemSpace,
  filesystemInfo,
  pathLimits,
  commit,
];

export function isReplayed3(procedure: number): boolean {
  return PROCEDURES[procedure]?.isReplayed === true;
}

export async function call3(
  server: Version3,
  report: (event: NfsEvent) => void,
  call: Call,
  args: XdrReader,
  reply: XdrWriter,
): Promise<void> {
  const procedure = PROCEDURES[call.procedure];
  if (procedure === undefined) throw new NoSuchProcedure();
  const request = new Request3(server, call, args, reply);
  try {
    await procedure.run(request);
  } catch (error) {
    if (error instanceof XdrError) throw error;
    const status = status3Of(error);
    if (status === undefined) report({ type: 'internal-error', address: call.address, error });
    await request.fail(status ?? Status3.serverFault, procedure.onFailure);
  }
}
