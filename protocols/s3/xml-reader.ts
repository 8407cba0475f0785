import { XMLParser } from 'fast-xml-parser';
import { S3Error } from './errors.ts';

const TEXT = '#text';
const CDATA = '#cdata';
const DEPTH_MAX = 16;
const PREDEFINED = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);
/** What may hold `<!` without declaring anything. */
const OPAQUE = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

const parser = new XMLParser({
  preserveOrder: true,
  textNodeName: TEXT,
  cdataPropName: CDATA,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  trimValues: false,
});

type Node = Record<string, unknown> & { ':@'?: Record<string, string> };

/** An element of a document a client sent. */
export class XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** Its own text, as it stands there. */
  readonly content: string;

  constructor(node: Node, depth = 0) {
    if (depth > DEPTH_MAX) throw new S3Error('MalformedXML', `Elements are nested deeper than ${DEPTH_MAX}.`);
    this.name = tagOf(node);
    this.attributes = node[':@'] ?? {};
    const nodes = node[this.name] as Node[];
    this.children = nodes.filter(isElement).map((child) => new XmlElement(child, depth + 1));
    this.content = this.children.length > 0 ? '' : nodes.map(textOf).join('');
  }

  child(name: string): XmlElement | undefined {
    return this.children.find((each) => each.name === name);
  }

  all(name: string): XmlElement[] {
    return this.children.filter((each) => each.name === name);
  }

  /** The text of a child. */
  text(name: string): string | undefined {
    return this.child(name)?.content;
  }

  /** The text of a child that has to be there. */
  need(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw new S3Error('MalformedXML', `<${this.name}> needs <${name}>.`);
    return text;
  }
}

/** The root, which must have one of the given names. Document types are refused, so no entity is ever expanded. */
export function readXml(text: string, ...roots: readonly string[]): XmlElement {
  const root = rootOf(text);
  if (!roots.includes(root.name)) {
    throw new S3Error('MalformedXML', `The root element must be <${roots.join('> or <')}>.`);
  }
  return root;
}

function rootOf(text: string): XmlElement {
  refuseDeclarations(text);
  let nodes: Node[];
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- what should replace it is a package of its own
    nodes = parser.parse(text, true) as Node[];
  } catch {
    throw new S3Error('MalformedXML', 'The body is not well-formed XML.');
  }
  const root = nodes.find(isElement);
  if (!root) throw new S3Error('MalformedXML', 'There is no XML in the body.');
  return new XmlElement(root);
}

function refuseDeclarations(text: string): void {
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const opaque = OPAQUE.find(([open]) => text.startsWith(open, at));
    if (opaque) at = text.indexOf(opaque[1], at);
    else if (text[at + 1] === '!') throw new S3Error('MalformedXML', 'Document types and entities are not accepted.');
    if (at === -1) throw new S3Error('MalformedXML', 'The body is not well-formed XML.');
  }
}

function tagOf(node: Node): string {
  for (const key in node) if (key !== ':@') return key;
  return TEXT;
}

function isElement(node: Node): boolean {
  const tag = tagOf(node);
  return tag !== TEXT && tag !== CDATA;
}

function textOf(node: Node): string {
  const cdata = node[CDATA] as Node[] | undefined;
  return cdata ? cdata.map((part) => String(part[TEXT])).join('') : decode(String(node[TEXT]));
}

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x?)?(\w+);/g, (reference, numeric: string | undefined, body: string) => {
    const character = numeric === undefined ? PREDEFINED.get(body) : characterAt(body, numeric === '#' ? 10 : 16);
    if (character === undefined) throw new S3Error('MalformedXML', `${reference.slice(0, 32)} is no known character.`);
    return character;
  });
}

function characterAt(digits: string, base: 10 | 16): string | undefined {
  const point = (base === 10 ? /^\d+$/ : /^[\da-f]+$/i).test(digits) ? Number.parseInt(digits, base) : 0;
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
