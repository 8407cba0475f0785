import { S3Error } from '../errors.ts';
import type { Scope } from './signing-key.ts';

export interface Credential {
  readonly accessKey: string;
  readonly scope: Scope;
  /** `<date>/<region>/s3/aws4_request`. */
  readonly scopeText: string;
}

type Complain = (message: string, details?: Readonly<Record<string, string>>) => S3Error;

const SIGNED_HEADERS_MAX = 100;

/** `<access key>/<date>/<region>/s3/aws4_request`; `day` is the date of the request, which the scope has to be of. */
export function readCredential(text: string, region: string, day: string, complain: Complain): Credential {
  const parts = text.split('/');
  // Access keys may hold slashes; the other four cannot.
  const [date = '', given = '', service = '', end = ''] = parts.splice(-4);
  const accessKey = parts.join('/');
  if (accessKey === '' || !/^\d{8}$/.test(date)) {
    throw complain('The credential must be <access key>/<date>/<region>/s3/aws4_request.');
  }
  if (end !== 'aws4_request') throw complain(`The credential must end with aws4_request, not '${end.slice(0, 64)}'.`);
  if (service !== 's3') throw complain(`The service in the credential must be s3, not '${service.slice(0, 64)}'.`);
  if (given !== region) {
    throw complain(`The region in the credential is '${given.slice(0, 64)}', but '${region}' is expected.`, {
      Region: region,
    });
  }
  if (date !== day) throw complain(`The date in the credential, ${date}, is not that of the request, ${day}.`);
  return { accessKey, scope: { date, region }, scopeText: `${date}/${region}/s3/aws4_request` };
}

/** Clients sign the same headers again and again. */
const listsRead = new Map<string, readonly string[]>();
const LISTS_MAX = 256;

/** Lower-case names in order, `host` among them. */
export function readSignedHeaders(text: string, complain: Complain): readonly string[] {
  const known = listsRead.get(text);
  if (known) return known;
  const names = checkSignedHeaders(text, complain);
  if (listsRead.size >= LISTS_MAX) listsRead.clear();
  listsRead.set(text, names);
  return names;
}

function checkSignedHeaders(text: string, complain: Complain): readonly string[] {
  const names = text.split(';');
  if (names.length > SIGNED_HEADERS_MAX || names.some((name) => !/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name))) {
    throw complain('SignedHeaders must be lower-case names of headers with semicolons between them.');
  }
  if (names.some((name, at) => at > 0 && name <= (names[at - 1] ?? ''))) {
    throw complain('SignedHeaders must be in order, each name once.');
  }
  if (!names.includes('host')) throw complain('SignedHeaders must include host.');
  return names;
}

const BASIC_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

let lastRead: { readonly text: string; readonly time: number | undefined } = { text: '', time: undefined };

/** `20261116T123456Z` in milliseconds since 1970; undefined for what is no such time. */
export function readTime(text: string): number | undefined {
  // Many requests come in one second.
  if (lastRead.text !== text) lastRead = { text, time: parseTime(text) };
  return lastRead.time;
}

function parseTime(text: string): number | undefined {
  const match = BASIC_TIME.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // What is no day of the calendar would have become another one.
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour;
  return exists && date.getUTCMinutes() === minute && date.getUTCSeconds() === second ? date.getTime() : undefined;
}

/** The way back. */
export function writeTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}
