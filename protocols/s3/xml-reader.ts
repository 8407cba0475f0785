import { parseXml, SMALL_XML, XmlError, type XmlLimits, type XmlNode } from '@granary/kernel/xml';
import { S3Error } from './errors.ts';

/** An element of a document a client sent. Prefixes of names do not matter. */
export class XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** Its own text, as it stands there. */
  readonly content: string;
  readonly #isMixed: boolean;

  constructor({ name, children, text, isMixed }: XmlNode) {
    this.name = name.slice(name.indexOf(':') + 1);
    this.children = children.map((child) => new XmlElement(child));
    this.content = text;
    this.#isMixed = isMixed === true;
  }

  child(name: string): XmlElement | undefined {
    return this.children.find((each) => each.name === name);
  }

  all(name: string): XmlElement[] {
    return this.children.filter((each) => each.name === name);
  }

  /** The text of a child, which must hold nothing else and be there once. */
  text(name: string): string | undefined {
    const [child, ...others] = this.all(name);
    if (others.length > 0) throw new S3Error('MalformedXML', `<${this.name}> holds <${name}> more than once.`);
    if (child && child.children.length > 0) throw new S3Error('MalformedXML', `<${name}> must hold text only.`);
    return child?.content;
  }

  /** Refuses text and elements of other names. */
  only(...names: readonly string[]): void {
    const other = this.children.find((child) => !names.includes(child.name));
    if (other) {
      throw new S3Error('MalformedXML', `<${other.name.slice(0, 64)}> in <${this.name}> is not known.`);
    }
    if (!this.#isMixed && this.content.trim() === '') return;
    throw new S3Error('MalformedXML', `<${this.name}> must not hold text.`);
  }

  /** And a second child of one name. */
  onlyOnce(...names: readonly string[]): void {
    this.only(...names);
    if (new Set(this.children.map(({ name }) => name)).size === this.children.length) return;
    throw new S3Error('MalformedXML', `An element of <${this.name}> is there twice.`);
  }

  /** The text of a child that has to be there. */
  need(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw new S3Error('MalformedXML', `<${this.name}> needs <${name}>.`);
    return text;
  }
}

/** The root, which must have one of the given names. */
export function readXml(text: string, ...roots: readonly string[]): XmlElement {
  return readXmlWithin(SMALL_XML, text, ...roots);
}

/** For documents that may be larger than most. */
export function readXmlWithin(limits: XmlLimits, text: string, ...roots: readonly string[]): XmlElement {
  const root = new XmlElement(parse(text, limits));
  if (!roots.includes(root.name)) {
    throw new S3Error('MalformedXML', `The root element must be <${roots.join('> or <')}>.`);
  }
  return root;
}

function parse(text: string, limits: XmlLimits): XmlNode {
  try {
    return parseXml(text, limits);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw new S3Error('MalformedXML', `The body is not XML that can be read: ${error.message}.`);
  }
}
