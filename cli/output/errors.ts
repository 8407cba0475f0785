import { errorCatalogue, type Api, type Endpoint, type ErrorEntry } from '@granary/contract';
import { ApiError, ConnectionError } from '@granary/client';
import { CommanderError } from 'commander';
import { optionFlag } from '../names.ts';
import { CommandFailure, exitCodes, type ExitCode } from '../exit.ts';
import { printToStderr, type Terminal } from '../terminal.ts';
import { plainText } from './cells.ts';
import { commandPrefix, inCommands } from './wording.ts';

const entries: readonly ErrorEntry[] = Object.values(errorCatalogue);

/** The HTTP status an error means: the portal answers with it, arrays and object storage with a code of the catalogue. */
export function httpStatusOf(api: Api, error: ApiError): number {
  if (api.dialect === 'portal') return error.status;
  return entries.find(({ code }) => code === error.status)?.http ?? error.status;
}

/** An error of a call, said in the words of the command line: options, not fields. */
export function refusal(api: Api, endpoint: Endpoint, error: unknown): unknown {
  if (isArrayDown(api, error)) {
    const message = `${error.message}. \`granary status\` says whether the array is up.`;
    return new CommandFailure(exitCodes.noConnection, message, { cause: error });
  }
  if (!(error instanceof ApiError)) return error;
  const status = httpStatusOf(api, error);
  const problems = problemsOf(api, endpoint, error);
  if (problems.length === 0) {
    const isSignInRefused = status === 401 && error.message !== errorCatalogue.wrong_code.message;
    const advice =
      isSignInRefused && endpoint.access.roles !== 'anyone'
        ? ` Sign in with \`granary ${commandPrefix(api)}login\`.`
        : '';
    return new CommandFailure(exitCodeOfStatus(status), `${inCommands(api, error.message)}${advice}`, { cause: error });
  }
  const details = problems.map(
    ({ field, message }) => `${labelOf(endpoint, field)} ${otherOptions(endpoint, inCommands(api, message))}`,
  );
  return new CommandFailure(exitCodes.usage, 'The command was not accepted:', { details, cause: error });
}

/** Nothing listens there. Other reasons, such as TLS, have words of their own. */
function isArrayDown(api: Api, error: unknown): error is ConnectionError {
  return api.dialect !== 'portal' && error instanceof ConnectionError && /\bECONNREFUSED\b/.test(error.message);
}

type Problem = ApiError['problems'][number];

/** Arrays say what is wrong with parameters in the message alone: `name is required; iqn must be an iSCSI name.` */
function problemsOf(api: Api, endpoint: Endpoint, error: ApiError): readonly Problem[] {
  if (api.dialect === 'portal' || error.status !== errorCatalogue.bad_parameter.code) return error.problems;
  const problems: Problem[] = [];
  for (const part of error.message.replace(/\.$/, '').split('; ')) {
    const [, field = '', message = ''] = /^(\w+) (.*)$/s.exec(part) ?? [];
    const last = problems.at(-1);
    if (endpoint.params[field]) problems.push({ field, message });
    else if (last) problems[problems.length - 1] = { ...last, message: `${last.message}; ${part}` };
    else return [];
  }
  return problems;
}

/** `unless iscsi or wwpns is given`: parameters that are named beside the one it is about. */
function otherOptions(endpoint: Endpoint, message: string): string {
  return message.replace(/\b(unless|or|and|with|without) ([a-z0-9]+)\b/g, (text, word: string, name: string) =>
    endpoint.params[name] ? `${word} ${optionFlag(name)}` : text,
  );
}

function labelOf(endpoint: Endpoint, field: string): string {
  if (!endpoint.params[field]) return field;
  return endpoint.path.includes(`{${field}}`) ? `<${optionFlag(field).slice(2)}>` : optionFlag(field);
}

function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403 || status === 429) return exitCodes.notAllowed;
  return status === 404 ? exitCodes.notFound : exitCodes.failed;
}

/** Tells what went wrong on standard error and returns the exit code. */
export function reportError(terminal: Terminal, error: unknown, debug: boolean): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const { exitCode, message, details } = failureOf(error, debug);
  printToStderr(terminal, `granary: ${message.split('\n').map(plainText).join('\n')}`);
  for (const detail of details) printToStderr(terminal, `  ${plainText(detail)}`);
  if (debug) printToStderr(terminal, stackOf(error));
  return exitCode;
}

function failureOf(error: unknown, debug: boolean): Pick<CommandFailure, 'exitCode' | 'message' | 'details'> {
  if (error instanceof CommandFailure) return error;
  if (error instanceof ConnectionError) {
    return { exitCode: exitCodes.noConnection, message: connectionMessage(error), details: [] };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: exitCodes.failed, message: debug ? message : `${message} (--debug shows where)`, details: [] };
}

/** What to do differs: what runs and is slow is not to be started. */
function connectionMessage({ address, message, waitedMs }: ConnectionError): string {
  if (waitedMs !== undefined)
    return `${address} did not answer in ${waitedMs / 1000} seconds. It may have done what was asked: look before you try again. If it stays so, see its log.`;
  if (/\bECONNREFUSED\b/.test(message))
    return `${message}. Start it with \`granary up\`, or name another address with --url.`;
  return `${message}. Check the address, or name another one with --url.`;
}

/** The error and what caused it. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\nCaused by: ${stackOf(error.cause)}`;
}
