/**
 * Reads an XML document in one pass, in time proportional to its length, within limits on everything it can consist of.
 * It knows elements, attributes, text, CDATA, comments and processing instructions. Document types are refused, so there
 * are no entities but the five that XML itself defines, and none is ever expanded into another.
 */
import type { XmlLimits } from './limits.ts';

export interface XmlNode {
  /** With its prefix, as it was written. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlNode[];
  /** The text of an element that has no elements inside; else empty. */
  readonly text: string;
  /** There is text between its elements. */
  readonly isMixed?: true;
}

/** What is wrong with a document. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

interface OpenNode {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlNode[];
  text: string;
  isMixed?: true;
}

const NONE: ReadonlyMap<string, string> = new Map();
// XML knows four spaces. `\s` has more, which are letters of names here: patterns that overlap take cubic time.
const START_TAG = /<([A-Za-z_:\u0080-\uffff][\w:.\-\u0080-\uffff]*)/y;
const ATTRIBUTE =
  /[ \t\r\n]+([A-Za-z_:\u0080-\uffff][\w:.\-\u0080-\uffff]*)[ \t\r\n]*=[ \t\r\n]*(?:"([^"<]*)"|'([^'<]*)')/y;
const TAG_END = /[ \t\r\n]*(\/?)>/y;
const END_TAG = /<\/([^ \t\r\n<>]+)[ \t\r\n]*>/y;
const REFERENCE = /&([^&;]{0,32})(;?)/g;
const PREDEFINED: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** The root element. Throws `XmlError`. */
export function parseXml(text: string, limits: XmlLimits): XmlNode {
  if (text.length > limits.lengthMax) throw new XmlError(`it is longer than ${limits.lengthMax} characters`);
  return new Parser(text, limits).parse();
}

class Parser {
  readonly #text: string;
  readonly #limits: XmlLimits;
  readonly #open: OpenNode[] = [];
  #at = 0;
  #left: number;
  #root: XmlNode | undefined;

  constructor(text: string, limits: XmlLimits) {
    // XML 1.0, 2.11: every line end reaches the application as one line feed.
    this.#text = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    this.#limits = limits;
    this.#left = limits.elementsMax;
  }

  parse(): XmlNode {
    const text = this.#text;
    if (text.startsWith('\ufeff')) this.#at = 1;
    for (;;) {
      const next = text.indexOf('<', this.#at);
      this.#characters(text.slice(this.#at, next === -1 ? text.length : next));
      if (next === -1) break;
      this.#at = next;
      this.#markup(text[next + 1]);
    }
    const unclosed = this.#open.at(-1);
    if (unclosed) throw new XmlError(`<${shown(unclosed.name)}> is not closed`);
    if (!this.#root) throw new XmlError('there is no root element');
    return this.#root;
  }

  #characters(raw: string): void {
    if (raw === '') return;
    const open = this.#open.at(-1);
    if (open) {
      addText(open, decode(raw));
    } else if (raw.trim() !== '') throw new XmlError('there is text outside of the root element');
  }

  #markup(second: string | undefined): void {
    const text = this.#text;
    if (second === '/') this.#endTag();
    else if (second === '?') this.#skip('?>', 2);
    else if (second !== '!') this.#startTag();
    else if (text.startsWith('<!--', this.#at)) this.#skip('-->', 4);
    else if (text.startsWith('<![CDATA[', this.#at)) this.#cdata();
    else throw new XmlError('document types and entities are not accepted');
  }

  /** Past the next such end; answers where it begins. */
  #skip(end: string, from: number): number {
    const found = this.#text.indexOf(end, this.#at + from);
    if (found === -1) throw new XmlError(`${shown(this.#text.slice(this.#at, this.#at + from))} is not closed`);
    this.#at = found + end.length;
    return found;
  }

  #cdata(): void {
    const begin = this.#at + '<![CDATA['.length;
    const end = this.#skip(']]>', begin - this.#at);
    const open = this.#open.at(-1);
    if (!open) throw new XmlError('there is text outside of the root element');
    addText(open, this.#text.slice(begin, end));
  }

  #startTag(): void {
    const name = this.#match(START_TAG)?.[1];
    if (name === undefined) throw new XmlError('a < is not the beginning of a tag; write &lt; in text');
    if (this.#root) throw new XmlError('there is more than one root element');
    this.#count();
    if (this.#open.length >= this.#limits.depthMax)
      throw new XmlError(`elements are nested deeper than ${this.#limits.depthMax}`);
    const attributes = this.#attributes();
    const end = this.#match(TAG_END);
    if (!end) throw new XmlError(`the tag <${shown(name)} is not well-formed`);
    const node: OpenNode = { name, attributes, children: [], text: '' };
    if (end[1] === '/') this.#close(node);
    else this.#open.push(node);
  }

  #attributes(): ReadonlyMap<string, string> {
    let found: Map<string, string> | undefined;
    for (let match = this.#match(ATTRIBUTE); match; match = this.#match(ATTRIBUTE)) {
      const [, name = '', double, single = ''] = match;
      this.#count();
      found ??= new Map();
      if (found.has(name)) throw new XmlError(`the attribute ${shown(name)} is given twice`);
      found.set(name, decode(double ?? single));
    }
    return found ?? NONE;
  }

  #endTag(): void {
    const name = this.#match(END_TAG)?.[1];
    const open = this.#open.pop();
    if (name === undefined || open?.name !== name) {
      throw new XmlError(`</${shown(name ?? '')}> closes nothing${open ? `; <${shown(open.name)}> is open` : ''}`);
    }
    this.#close(open);
  }

  #close(node: OpenNode): void {
    const parent = this.#open.at(-1);
    if (parent) addElement(parent, node);
    else this.#root = node;
  }

  #count(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new XmlError(`it has more than ${this.#limits.elementsMax} elements and attributes`);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match;
  }
}

function addText(node: OpenNode, text: string): void {
  if (node.children.length === 0) node.text += text;
  else if (text.trim() !== '') node.isMixed = true;
}

function addElement(node: OpenNode, child: OpenNode): void {
  if (node.text.trim() !== '') node.isMixed = true;
  node.text = '';
  node.children.push(child);
}

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (reference, name: string, end: string) => {
    const character = end === '' ? undefined : characterOf(name);
    if (character === undefined) throw new XmlError(`${shown(reference)} is not a known character`);
    return character;
  });
}

function characterOf(name: string): string | undefined {
  if (!name.startsWith('#')) return PREDEFINED.get(name);
  const digits = /^#(?:x([\da-f]{1,8})|(\d{1,8}))$/i.exec(name);
  if (!digits) return undefined;
  const point = digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}

function shown(text: string): string {
  return text.slice(0, 32);
}
