import type { Readable } from 'node:stream';
import { errorCatalogue, replySchema, type Api, type Operation, type RecordReply, type Reply } from '@granary/contract';
import type { TSchema } from 'typebox';
import type { GranaryError } from '../errors.ts';
import type { Format } from './format.ts';
import { xmlRoot } from './xml-root.ts';
import { writeXml } from './xml-writer.ts';

export const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
};

export interface Answer {
  readonly status: number;
  /** The code of the error in the catalogue, or that of an asynchronous result. */
  readonly code?: number;
  readonly body: string | Uint8Array | Readable;
  readonly headers?: Readonly<Record<string, string | number>> | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Wraps the result of a handler as the contract declares it, and errors in the API's dialect. */
export class Envelope {
  readonly #reply: RecordReply;
  readonly #root: string;
  #schema: TSchema | undefined;

  constructor(api: Api, operation: Operation, reply: RecordReply) {
    this.#reply = reply;
    this.#root = xmlRoot(api, operation);
  }

  wrap(fields: Fields, format: Format): string {
    const { wrapper, constants } = this.#reply;
    const body = { ...constants, ...fields };
    if (format === 'json') return JSON.stringify(wrapper === undefined ? body : { [wrapper]: body });
    // XML has no wrapper level: the root element replaces it.
    const { kind, fields: schemas } = this.#reply;
    this.#schema ??= replySchema({ kind, constants, fields: schemas });
    return writeXml(this.#root, body, this.#schema);
  }
}

/** The error in the dialect: the portal by HTTP status, arrays by a code in a reply that is HTTP 200. */
export function errorAnswer(api: Api, error: GranaryError, format: Format, root: string, reply?: Reply): Answer {
  const entry = errorCatalogue[error.entry];
  const { headers } = error;
  if (api.dialect === 'portal') {
    const errors = error.problems.length > 0 ? { errors: error.problems } : {};
    const body = { status: 'error', message: error.message, ...errors };
    const text = format === 'json' ? JSON.stringify(body) : writeXml(root, body);
    return { status: entry.http, code: entry.code, headers, body: text };
  }
  const status = 'keepsHttp' in entry ? entry.http : 200;
  return { status, code: entry.code, headers, body: statusBody(entry.code, error.message, { format, root, reply }) };
}

/** The work was accepted and continues after the reply. */
export function submittedAnswer(api: Api, message: string, format: Format, root: string): Answer {
  const text = `The request has been submitted. ${message}`.trim();
  const code = api.asyncStatus ?? 0;
  return { status: 200, code, body: statusBody(code, text, { format, root }) };
}

interface Wording {
  readonly format: Format;
  readonly root: string;
  readonly reply?: Reply | undefined;
}

/** A failure in the dialect of arrays, outside any operation. */
export function statusText(status: number, message: string, format: Format): string {
  return statusBody(status, message, { format, root: 'response' });
}

function statusBody(status: number, message: string, { format, root, reply }: Wording): string {
  if (format === 'xml') return writeXml(root, { status, status_msg: message });
  const response = { status, message };
  // Callers look for the status where a success has it, too.
  return JSON.stringify(hasStatusOnTop(reply) ? { status, status_msg: message, response } : { response });
}

function hasStatusOnTop(reply: Reply | undefined): boolean {
  return reply?.kind === 'record' && reply.wrapper === undefined && 'status' in reply.constants;
}
