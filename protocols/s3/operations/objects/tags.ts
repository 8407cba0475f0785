import { S3Error, badArgument } from '../../errors.ts';
import { element, field } from '../../xml.ts';
import type { XmlElement } from '../../xml-reader.ts';

export type Tags = Readonly<Record<string, string>>;

export const MOST_OBJECT_TAGS = 10;
export const MOST_BUCKET_TAGS = 50;
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** `<Tagging>` of a client. */
export function tagsOfXml(root: XmlElement, most: number): Tags {
  root.only('TagSet');
  const set = root.child('TagSet');
  if (set === undefined) throw new S3Error('MalformedXML', '<Tagging> needs <TagSet>.');
  set.only('Tag');
  const pairs = set.all('Tag').map((tag): [string, string] => {
    tag.only('Key', 'Value');
    return [tag.need('Key'), tag.need('Value')];
  });
  return checked(pairs, most);
}

/** `x-amz-tagging`: written like a query. */
export function tagsOfHeader(header: string): Tags {
  let pairs: [string, string][];
  try {
    pairs = header
      .split('&')
      .filter((piece) => piece !== '')
      .map((piece) => {
        const [name = '', ...value] = piece.split('=').map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
        return [name, value.join('=')];
      });
  } catch {
    throw badArgument('x-amz-tagging', header, 'x-amz-tagging must be written like the query of an address.');
  }
  return checked(pairs, MOST_OBJECT_TAGS);
}

/** By name, so that nothing a client calls a tag can be mistaken for a property of objects. */
function checked(pairs: readonly (readonly [string, string])[], most: number): Tags {
  if (pairs.length > most) throw new S3Error('BadRequest', `There can be at most ${most} tags.`);
  const tags = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (tags.has(name)) throw invalid(name, 'A tag cannot be given twice.');
    if (name === '' || name.length > 128) throw invalid(name, 'The key of a tag has 1 to 128 characters.');
    if (value.length > 256) throw invalid(name, 'The value of a tag has at most 256 characters.');
    if (!ALLOWED.test(name) || !ALLOWED.test(value)) {
      throw invalid(name, 'Tags are made of letters, digits, spaces and _ . : / = + - @.');
    }
    if (/^aws:/i.test(name)) throw invalid(name, 'Tags that begin with aws: are reserved.');
    tags.set(name, value);
  }
  return Object.fromEntries(tags);
}

function invalid(name: string, message: string): S3Error {
  return new S3Error('InvalidTag', message, { TagKey: name.slice(0, 128) });
}

export function tagSetXml(tags: Tags): string {
  const each = Object.entries(tags).map(([name, value]) => element('Tag', field('Key', name) + field('Value', value)));
  return element('TagSet', each.join(''));
}
