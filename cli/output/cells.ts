/** Values as the cells of a table show them: short, on one line, and never able to steer the terminal. */

type Fields = Readonly<Record<string, unknown>>;

/** What a record is called, best first: what one would type to name it. */
const NAME_FIELDS = ['key', 'name', 'display_name', 'username', 'allocation_zone_name', 'id', 'value'];

/** Without control characters: a name that another user chose must not clear the reader's screen. */
export function plainText(text: string): string {
  return text
    .replace(/\s*[\r\n\t]+\s*/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

export function cellText(value: unknown): string {
  if (Array.isArray(value)) return value.map(briefly).join(', ');
  return briefly(value);
}

export function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function briefly(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (!isNested(value)) return plainText(typeof value === 'string' ? value : JSON.stringify(value));
  if (Array.isArray(value)) return `${value.length} items`;
  const fields = value as Fields;
  const name = NAME_FIELDS.find((field) => typeof fields[field] === 'string' || typeof fields[field] === 'number');
  if (name !== undefined) return plainText(String(fields[name]));
  return Object.entries(fields)
    .map(([key, inner]) => plainText(`${key}=${briefly(inner)}`))
    .join(', ');
}
