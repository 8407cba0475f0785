import { SMALL_XML, type XmlLimits } from '../xml/limits.ts';
import { parseXml, type XmlNode } from '../xml/parser.ts';

/**
 * The parameters of an XML body: the root's name does not matter, dashes in names become underscores,
 * `type="array"` makes a list, `nil="true"` is no value.
 */
export function readXml(text: string, limits: XmlLimits = SMALL_XML): Record<string, unknown> {
  const value = valueOf(parseXml(text, limits));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function valueOf({ attributes, children, text }: XmlNode): unknown {
  if (attributes.get('nil') === 'true') return null;
  if (attributes.get('type') === 'array') return children.map(valueOf);
  return children.length === 0 ? text : fieldsOf(children);
}

/** A name that comes again makes a list. */
function fieldsOf(elements: readonly XmlNode[]): Record<string, unknown> {
  const values = new Map<string, unknown[]>();
  for (const element of elements) {
    const name = element.name.replaceAll('-', '_');
    // The one name that would not merge as a parameter: it would replace what the others are looked up in.
    if (name === '__proto__') continue;
    const earlier = values.get(name);
    if (earlier) earlier.push(valueOf(element));
    else values.set(name, [valueOf(element)]);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}
