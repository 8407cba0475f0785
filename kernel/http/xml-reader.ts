import { XMLParser } from 'fast-xml-parser';

const TEXT = '#text';
const CDATA = '#cdata';

const parser = new XMLParser({
  preserveOrder: true,
  textNodeName: TEXT,
  cdataPropName: CDATA,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  trimValues: false,
});

type Node = Record<string, unknown> & { ':@'?: Record<string, string> };

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

/**
 * The parameters of an XML body: the root's name does not matter, dashes in names become underscores,
 * `type="array"` makes a list, `nil="true"` is no value. Declarations are refused, so no entity is ever expanded.
 */
export function readXml(text: string): Record<string, unknown> {
  refuseDeclarations(text);
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- what should replace it is a package of its own
  const nodes = parser.parse(text, true) as Node[];
  const root = nodes.find((node) => isElement(node));
  if (!root) throw new Error('there is no root element');
  const value = valueOf(root, 0);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function refuseDeclarations(text: string): void {
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const opaque = OPAQUE.find(([open]) => text.startsWith(open, at));
    if (opaque) at = text.indexOf(opaque[1], at);
    else if (text[at + 1] === '!') throw new Error('document types and entities are not accepted');
    if (at === -1) throw new Error(`${opaque?.[0]} is not closed`);
  }
}

function tagOf(node: Node): string {
  return Object.keys(node).find((key) => key !== ':@') ?? TEXT;
}

function isElement(node: Node): boolean {
  return ![TEXT, CDATA].includes(tagOf(node));
}

function valueOf(node: Node, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new Error(`elements are nested deeper than ${DEPTH_MAX}`);
  const children = node[tagOf(node)] as Node[];
  const { type, nil } = node[':@'] ?? {};
  const elements = children.filter(isElement);
  if (nil === 'true') return null;
  if (type === 'array') return elements.map((child) => valueOf(child, depth + 1));
  return elements.length === 0 ? children.map(textOf).join('') : fieldsOf(elements, depth + 1);
}

/** A name that comes again makes a list. */
function fieldsOf(elements: Node[], depth: number): Record<string, unknown> {
  const values = new Map<string, unknown[]>();
  for (const element of elements) {
    const name = tagOf(element).replaceAll('-', '_');
    const earlier = values.get(name);
    if (earlier) earlier.push(valueOf(element, depth));
    else values.set(name, [valueOf(element, depth)]);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

function textOf(node: Node): string {
  const cdata = node[CDATA] as Node[] | undefined;
  return cdata ? cdata.map((part) => String(part[TEXT])).join('') : decode(String(node[TEXT]));
}

function decode(text: string): string {
  return text.replace(/&(#x?)?(\w+);/g, (reference, numeric: string | undefined, body: string) => {
    const character = numeric === undefined ? PREDEFINED.get(body) : characterAt(body, numeric === '#' ? 10 : 16);
    if (character === undefined) throw new Error(`${reference.slice(0, 32)} is not a known character`);
    return character;
  });
}

function characterAt(digits: string, base: 10 | 16): string | undefined {
  const point = (base === 10 ? /^\d+$/ : /^[\da-f]+$/i).test(digits) ? Number.parseInt(digits, base) : 0;
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
