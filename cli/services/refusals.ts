import { CommandFailure, exitCodes } from '../exit.ts';

/** What a sentence about a failed start can name. */
export interface StartFacts {
  readonly folder: string;
  /** The option that sets the folder; --data by default. */
  readonly folderFlag?: string;
  readonly log: string;
  /** The option that sets each port asked for. */
  readonly portFlags: Readonly<Record<number, string>>;
}

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly port?: number;
  readonly address?: string;
  readonly path?: string;
  readonly errcode?: number;
}

/** Why a service did not start, in one sentence that says what to do. */
export function startRefusal(error: unknown, facts: StartFacts): CommandFailure {
  if (error instanceof CommandFailure) return error;
  const chain = causesOf(error);
  const sentence =
    firstOf(chain, (one) => portSentence(one, facts)) ??
    firstOf(chain, (one) => folderSentence(one, facts)) ??
    otherSentence(chain[0], facts);
  return new CommandFailure(exitCodes.failed, sentence, { cause: error });
}

function portSentence(
  { code, syscall, port = 0, address }: SystemError,
  { portFlags }: StartFacts,
): string | undefined {
  if (syscall !== 'listen' && syscall !== 'bind') return undefined;
  const flag = portFlags[port] ?? '--port';
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${address} is taken; stop what uses it or choose another with ${flag}.`;
  if (code === 'EACCES') return `Port ${port} is not allowed to you; choose one above 1023 with ${flag}.`;
  if (code === 'EADDRNOTAVAIL') return `This machine has no address ${address}; choose one it has with --host.`;
  return undefined;
}

function folderSentence(
  { code, path, errcode }: SystemError,
  { folder, folderFlag = '--data' }: StartFacts,
): string | undefined {
  if (errcode === SQLITE_BUSY)
    return `Another Granary is running on ${folder}; stop it first, or choose another folder with ${folderFlag}.`;
  if (errcode === SQLITE_FULL)
    return `The disk of ${folder} is full; make room, or choose another folder with ${folderFlag}.`;
  if (path === undefined) return undefined;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOENT')
    return `${path} cannot be written (${code}); mend its rights, or choose another folder with ${folderFlag}.`;
  if (code === 'ENOTDIR' || code === 'EEXIST') return `${folder} is not a folder; choose another with ${folderFlag}.`;
  if (code === 'ENOSPC')
    return `The disk is full: ${path} cannot be written; make room, or choose another folder with ${folderFlag}.`;
  return undefined;
}

/** Errors that name a file and the way out. */
const PLAIN = ['ConfigError', 'DamagedDatabaseError', 'KeyError'];

/** Errors of our own say what to do; for the others the log has the rest. */
function otherSentence(error: SystemError | undefined, { log }: StartFacts): string {
  const message = error?.message ?? 'Granary did not start.';
  if (PLAIN.includes(error?.name ?? '') || log === '-') return message;
  return `${message} (more in ${log}, or with --debug)`;
}

function firstOf(
  chain: readonly SystemError[],
  reasons: (error: SystemError) => string | undefined,
): string | undefined {
  for (const error of chain) {
    const sentence = reasons(error);
    if (sentence !== undefined) return sentence;
  }
  return undefined;
}

/** The error and what caused it, outermost first. */
function causesOf(error: unknown): SystemError[] {
  const chain: SystemError[] = [];
  for (let one = error; one instanceof Error && chain.length < 10; one = one.cause) chain.push(one);
  return chain.length > 0 ? chain : [new Error(String(error))];
}
