import { badArgument, S3Error } from '../../errors.ts';

export function malformed(message: string): S3Error {
  return new S3Error('MalformedXML', message);
}

export function midnightOf(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw malformed('<Date> is an ISO 8601 date.');
  if (time % 86_400_000 !== 0) throw badArgument('Date', text, "'Date' must be at midnight GMT.");
  return time;
}

export function numberOf(name: string, text: string, least: number, most = 0x7fff_ffff): number {
  const digits = text.trim();
  // What is no number at all does not fit the schema; one that is out of its range is a bad argument.
  if (!/^[+-]?\d{1,15}$/.test(digits)) throw malformed(`<${name}> is an integer.`);
  const number = Number(digits);
  const highest = name.startsWith('ObjectSize') ? Number.MAX_SAFE_INTEGER : most;
  if (!(number >= least && number <= highest)) {
    throw badArgument(name, text, `'${name}' must be an integer from ${least} to ${highest}.`);
  }
  return number;
}
